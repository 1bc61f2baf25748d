import { createServer, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServerAdapter } from '@whatwg-node/server';
import { useServer } from 'graphql-ws/use/ws';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import { bodyLimitBytes, createApp, type App } from './app.ts';
import type { MemoryBeginning } from '../begin-memory.ts';
import { beginServer } from './begin-server.ts';
import type { Config } from '../config/schema.ts';
import { createMemory, type MemoryCore } from '../create-memory.ts';
import { socketOptions } from '../graphql/sockets.ts';
import { listen } from './listen.ts';
import { findForeignness } from './loopback.ts';

export interface RunningServer {
  readonly url: string;
  /** Rejects when a part that starts after the server answers cannot start. */
  readonly started: Promise<void>;
  /** Takes no new request, lets those under way finish, then closes everything. Idempotent. */
  stop(): Promise<void>;
}

export async function startServer(
  config: Config,
  logger: Logger,
  begun: Promise<MemoryBeginning> = beginServer(config, logger),
): Promise<RunningServer> {
  const core = await createMemory({ config, logger, beginning: await begun });
  const app = createApp(core);
  const { http, events } = serveRequests(app);
  const feeds = { events, sockets: serveSubscriptions(http, app, core) };
  try {
    await listen(http, config.butler);
  } catch (error) {
    await core.close();
    throw error;
  }
  const url = urlOf(http);
  logger.info({ url, engine: core.db.engine, location: core.db.location }, `listening on ${url}`);
  if (config.auth.mode === 'none') logger.warn(openness);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const drained = drain(http, feeds, config.butler.shutdownGraceSeconds);
    logger.info('stopping: no new requests are taken');
    await drained;
    await app.stop();
    await core.close();
    logger.info('stopped');
  };
  const start = async (): Promise<void> => {
    await app.start();
    if (stopping === undefined) logger.info('ready: database, queue and model');
  };
  return { url, started: start(), stop: () => (stopping ??= stop()) };
}

const openness =
  'no authentication is configured (butler.auth.mode is "none"): every process and user of this machine is the operator';

/** Feeds send something every few seconds: who takes nothing for so long is gone. graphql-ws sees to its own. */
const silenceLimitMs = 60_000;

/** How long a client may take for its part of a connection. */
export interface ClientTimes {
  /** For the headers of a request, from its first byte. */
  headersMs: number;
  /** Between two requests: longer than the minute for which proxies keep a connection, so that they close it. */
  idleMs: number;
  /** How often all of this is looked at. */
  checkMs: number;
}

const usualTimes: ClientTimes = { headersMs: 10_000, idleMs: 65_000, checkMs: 5_000 };

export function serveRequests(
  app: App,
  clientTimes: ClientTimes = usualTimes,
): { http: Server; events: Set<ServerResponse> } {
  const events = new Set<ServerResponse>();
  const adapter = createServerAdapter<{ res: ServerResponse }>(async (request, { res }) => {
    const response = await app.fetch(request);
    // A connection that is kept alive would hold the end up for seconds after its last answer.
    if (!http.listening) res.shouldKeepAlive = false;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      events.add(res);
      res.setTimeout(silenceLimitMs, () => res.destroy());
      res.once('close', () => events.delete(res));
    }
    return response;
  });
  const http = createServer(timeLimits(app, clientTimes), (request, response) => void adapter(request, response));
  http.maxConnections = app.limits.settings.maxConnections;
  http.on('drop', () => app.metrics.countRefusal('connections'));
  return { http, events };
}

function timeLimits({ limits }: App, { headersMs, idleMs, checkMs }: ClientTimes): ServerOptions {
  const requestMs = limits.settings.requestTimeoutSeconds * 1000;
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: checkMs,
  };
}

export function serveSubscriptions(http: Server, app: App, { config }: Pick<MemoryCore, 'config'>): WebSocketServer {
  const sockets = new WebSocketServer({
    noServer: true,
    path: '/graphql',
    maxPayload: bodyLimitBytes,
    verifyClient: ({ req }, done) =>
      done(findForeignness(`http://${req.headers.host}`, req.headers.origin, config) === undefined, 403),
  });
  useServer(
    socketOptions({
      authenticate: (authorization, tenant) => app.authenticator.authenticate(authorization, tenant ?? null),
      grantWatch: app.grantWatch,
      limits: app.limits,
      operations: app.operations,
      createContext: (caller) => app.createContext({}, caller),
      refused: () => app.metrics.countRefusal('unauthenticated'),
    }),
    sockets,
  );
  http.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request)),
  );
  return sockets;
}

function urlOf(http: Server): string {
  const { address, port, family } = http.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

interface Feeds {
  /** Responses that are streams of server-sent events. */
  events: Set<ServerResponse>;
  sockets: WebSocketServer;
}

/** Feeds have no end of their own, so their connections are closed; requests get the grace that was configured. */
async function drain(http: Server, { events, sockets }: Feeds, graceSeconds: number): Promise<void> {
  const closed = new Promise((resolve) => http.close(resolve));
  http.closeIdleConnections();
  for (const response of events) response.destroy();
  for (const client of sockets.clients) client.close(1001, 'server stops');
  const deadline = setTimeout(() => {
    http.closeAllConnections();
    for (const client of sockets.clients) client.terminate();
  }, graceSeconds * 1000);
  await closed;
  clearTimeout(deadline);
}
