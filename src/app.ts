import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { execute } from 'graphql';
import type { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import { v7 as uuidv7 } from 'uuid';
import { jobs } from '../jobs/jobs.ts';
import { startQueue, type Queue } from '../jobs/queue.ts';
import type { MemoryCore } from './create-memory.ts';
import { pendingMigrations } from './db/migrate.ts';
import { describeError, type DescribedError } from './describe-error.ts';
import { documentTokenLimit } from './graphql/builder.ts';
import type { GraphQLContext } from './graphql/context.ts';
import { maskError } from './graphql/errors.ts';
import { schema } from './graphql/schema.ts';
import { createHealthProbe, isReady, type CheckFunction, type HealthProbe } from './health.ts';
import { renderLandingPage } from './landing-page.ts';
import { findForeignness } from './loopback.ts';
import { handleMcpRequest } from './mcp/http.ts';
import { bindTools, createMcpServer } from './mcp/server.ts';
import type { Principal } from './memory/context.ts';
import { describeModel, findModelChanges } from './memory/embedding-versions.ts';
import { acceptRequestId, withRequestId } from './request-id.ts';

export interface App {
  /** Every HTTP request, so that a test needs no port. */
  fetch(request: Request): Promise<Response>;
  /** For doors that are not HTTP: graphql-ws and MCP over stdio. */
  createContext(requestId?: string): GraphQLContext;
  createMcpServer(): McpServer;
  health: HealthProbe;
  /** The slow parts, after the server answers: the job queue and the embedding model. Rejects if one cannot start. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Of one request, at every door. No honest one comes near it. */
export const bodyLimitBytes = 4 * 1024 * 1024;

/** With no authentication configured, whoever reaches the loopback address is the operator of the one tenant. */
const localOperator: Principal = { tenantId: 'default', butler: null, role: 'operator' };

export function createApp(core: MemoryCore): App {
  const boundTools = bindTools(schema);
  let queue: Queue | undefined;
  let queueStart: Promise<void> | undefined;
  let modelChanges: string[] = [];
  const health = createHealthProbe(core.db.engine, {
    database: async () => core.db.ping().then(() => ok),
    migrations: () => checkMigrations(core),
    model: async () => checkModel(core, modelChanges),
    queue: async () => (queue === undefined ? starting : queue.check().then(() => ok)),
  });
  const scheduledJobs = new Set<string>(jobs.map(({ schedule }) => schedule));
  const createContext = (requestId = uuidv7()): GraphQLContext => ({
    health,
    scheduledJobs,
    memory: {
      db: core.db,
      principal: localOperator,
      now: core.now,
      embedder: core.embedder,
      logger: core.logger,
      config: core.config,
      requestContext: { requestId, subrequestId: null, segmentId: null },
    },
  });
  const newMcpServer = (requestId?: string): McpServer =>
    createMcpServer({
      butler: core.config.butler,
      schema,
      tools: boundTools,
      logger: core.logger,
      execute: async (document, variableValues) =>
        execute({ schema, document, variableValues, contextValue: createContext(requestId) }),
    });
  const yoga = createGraphQL(core, createContext);
  const startDatabaseParts = async (): Promise<void> => {
    modelChanges = await reportModelChanges(core);
    queue = await startQueue(core);
  };
  return {
    fetch: (request) => answer(request, { core, yoga, health, newMcpServer }),
    createContext,
    createMcpServer: () => newMcpServer(),
    health,
    start: async () => {
      queueStart = startDatabaseParts();
      await queueStart;
      await core.embedder.load();
    },
    stop: async () => {
      // A queue that is still starting would go on after the database is closed.
      await queueStart?.catch(() => undefined);
      await queue?.stop();
    },
  };
}

const ok: Awaited<ReturnType<CheckFunction>> = { status: 'ok', detail: null };
const starting: Awaited<ReturnType<CheckFunction>> = { status: 'starting', detail: 'not started yet' };

async function checkMigrations({ db }: MemoryCore): ReturnType<CheckFunction> {
  const pending = await pendingMigrations(db);
  return pending.length === 0 ? ok : { status: 'failed', detail: `not applied: ${pending.join(', ')}` };
}

function checkModel({ embedder }: MemoryCore, changes: string[]): Awaited<ReturnType<CheckFunction>> {
  const { state, detail } = embedder.status();
  if (state === 'failed') return { status: 'failed', detail };
  if (state !== 'ready') return { status: 'starting', detail: `the embedding model is ${state}` };
  return changes.length === 0 ? ok : { status: 'degraded', detail: changes.join('; ') };
}

async function reportModelChanges({ db, embedder, logger }: MemoryCore): Promise<string[]> {
  const changes = await findModelChanges(db, embedder.model);
  return changes.map(({ tenantId, stored, configured }) => {
    const text = `tenant ${tenantId} has vectors of ${describeModel(stored)}; configured is ${describeModel(configured)}; they are not compared`;
    logger.warn({ tenantId, stored, configured }, text);
    return text;
  });
}

interface Doors {
  core: MemoryCore;
  yoga: YogaServerInstance<{ requestId: string }, GraphQLContext>;
  health: HealthProbe;
  newMcpServer: (requestId: string) => McpServer;
}

async function answer(request: Request, doors: Doors): Promise<Response> {
  const requestId = acceptRequestId(request.headers.get('x-request-id'));
  return withRequestId(requestId, async () => {
    const { logger } = doors.core;
    const startedAt = performance.now();
    const path = URL.canParse(request.url) ? new URL(request.url).pathname : request.url;
    const response = await route(path, request, doors, requestId).catch((error: unknown) => {
      if (hasHungUp(request, error)) return new Response(null, { status: clientClosedRequest });
      const { code, message } = describeError(error, logger);
      return refuse(500, code, message);
    });
    const milliseconds = Math.round(performance.now() - startedAt);
    logger.info({ method: request.method, path, status: response.status, milliseconds }, 'request');
    // On the response itself: a feed in a new one would never learn that its client hung up.
    response.headers.set('x-request-id', requestId);
    return response;
  });
}

/** Nobody reads the answer; the number is for the log, and the one that proxies use. */
const clientClosedRequest = 499;

function hasHungUp({ signal }: Request, error: unknown): boolean {
  return signal.aborted || (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

async function route(path: string, request: Request, doors: Doors, requestId: string): Promise<Response> {
  const foreignness = findForeignness(request.url, request.headers.get('origin'));
  if (foreignness !== undefined) return refuse(403, 'FORBIDDEN', foreignness);
  switch (path) {
    case '/':
      return new Response(renderLandingPage(doors.core.config), {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      });
    case '/graphql':
      return doors.yoga.fetch(request, { requestId });
    case '/mcp':
      return handleMcpRequest(request, doors.newMcpServer(requestId), bodyLimitBytes);
    case '/healthz':
      return Response.json({ status: 'ok' });
    case '/readyz': {
      const health = await doors.health.read();
      return Response.json(health, { status: isReady(health) ? 200 : 503 });
    }
    default:
      return refuse(404, 'NOT_FOUND', `nothing is at ${path}`);
  }
}

function refuse(status: number, code: DescribedError['code'], message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}

function createGraphQL(
  { config, logger }: MemoryCore,
  createContext: App['createContext'],
): YogaServerInstance<{ requestId: string }, GraphQLContext> {
  return createYoga<{ requestId: string }, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: config.butler.environment === 'development' ? { title: 'Butler Memory' } : false,
    // The page that Yoga renders by itself fetches its scripts from the network.
    renderGraphiQL,
    logging: false,
    // Its default lets the pages of every site read the memory.
    cors: false,
    maxRequestBodySize: bodyLimitBytes,
    context: ({ requestId }) => createContext(requestId),
    maskedErrors: { maskError: (error) => maskError(error, logger) },
    plugins: [limitTokens],
  });
}

const limitTokens: Plugin = {
  onParse: ({ parseFn, setParseFn }) =>
    setParseFn((source, options) => parseFn(source, { ...options, maxTokens: documentTokenLimit })),
};
