import { execute } from 'graphql';
import type { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import { startQueue, type Queue } from '../jobs/queue.ts';
import { createJobRunner } from '../jobs/runner.ts';
import type { MemoryCore } from './create-memory.ts';
import { pendingMigrations } from './db/migrate.ts';
import { describeError, type DescribedError } from './describe-error.ts';
import type { GraphQLContext } from './graphql/context.ts';
import { createDocumentPolicy, type DocumentPolicy } from './graphql/document-policy.ts';
import { createGraphQLHttpDoor, type GraphQLHttpDoor } from './graphql/http.ts';
import { schema } from './graphql/schema.ts';
import { createHealthProbe, isReady, type CheckFunction, type HealthProbe } from './health.ts';
import { describeTroubles, readSchedules } from './lifecycle/schedules.ts';
import { renderLandingPage } from './landing-page.ts';
import { findForeignness } from './loopback.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createMcpHttpDoor, type McpHttpDoor } from './mcp/http.ts';
import { bindSurface, createMcpServer, selectTools } from './mcp/server.ts';
import { createActivityFeed, type ActivityFeedTimes } from './memory/activity-feed.ts';
import type { Principal } from './memory/context.ts';
import { ReferenceQueue } from './memory/references.ts';
import { loadTokenizer } from './retrieval/tokenizers.ts';
import { describeModel, findModelChanges } from './memory/embedding-versions.ts';
import {
  acceptRequestContext,
  currentRequestContext,
  newRequestContext,
  withRequestContext,
  type RequestContext,
} from './request-id.ts';
import type { ToolGroup } from './tool-groups.ts';

export interface App {
  /** Every HTTP request, so that a test needs no port. */
  fetch(request: Request): Promise<Response>;
  /** For doors that are not HTTP: graphql-ws and MCP over stdio. What is not given is that of the current request. */
  createContext(requestContext?: Partial<RequestContext>): GraphQLContext;
  /** With the tools of all groups that are configured, unless told otherwise. */
  createMcpServer(groups?: readonly ToolGroup[]): McpServer;
  /** Which documents clients may send, over whatever they send them. */
  documentPolicy: DocumentPolicy;
  health: HealthProbe;
  /** The slow parts, after the server answers: the job queue and the embedding model. Rejects if one cannot start. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Of one request, at every door. No honest one comes near it. */
export const bodyLimitBytes = 4 * 1024 * 1024;

/** With no authentication configured, whoever reaches the loopback address is the operator of the one tenant. */
const localOperator: Principal = { tenantId: 'default', butler: null, role: 'operator' };

export function createApp(core: MemoryCore, activityTimes: ActivityFeedTimes = {}): App {
  let queue: Queue | undefined;
  let queueStart: Promise<void> | undefined;
  let modelChanges: string[] = [];
  const health = createHealthProbe(core.db.engine, {
    database: async () => core.db.ping().then(() => ok),
    migrations: () => checkMigrations(core),
    model: async () => checkModel(core, modelChanges),
    queue: async () => (queue === undefined ? starting : queue.check().then(() => ok)),
    schedules: async () => (queue === undefined ? starting : checkSchedules(core)),
  });
  const activity = createActivityFeed({ ...activityTimes, db: core.db, logger: core.logger });
  const references = new ReferenceQueue(core);
  const jobs = createJobRunner(core, () => queue);
  const metrics = createMetrics(core, knownPaths);
  const createContext = (given: Partial<RequestContext> = {}): GraphQLContext => ({
    health,
    activity,
    references,
    jobs,
    memory: {
      db: core.db,
      principal: localOperator,
      now: core.now,
      embedder: core.embedder,
      logger: core.logger,
      config: core.config,
      requestContext: { ...(currentRequestContext() ?? newRequestContext()), ...given },
    },
  });
  const policy = createDocumentPolicy(core.config);
  const graphql = createGraphQLHttpDoor({ policy, bodyLimitBytes, logger: core.logger, createContext });
  const mcp = createMcp(core, createContext);
  const startDatabaseParts = async (): Promise<void> => {
    modelChanges = await reportModelChanges(core);
    queue = await startQueue(core);
  };
  return {
    fetch: (request) => answer(request, { core, graphql, health, mcp: mcp.http, metrics }),
    createContext,
    createMcpServer: mcp.newServer,
    documentPolicy: policy,
    health,
    start: async () => {
      queueStart = startDatabaseParts();
      await queueStart;
      await core.embedder.load();
      // Some megabytes, which the first context would wait for; a tokenizer that is not there is told now.
      await loadTokenizer(core.config);
    },
    stop: async () => {
      activity.close();
      await mcp.http.close();
      await references.stop();
      await jobs.stop();
      // A queue that is still starting would go on after the database is closed.
      await queueStart?.catch(() => undefined);
      await queue?.stop();
    },
  };
}

interface Mcp {
  newServer: App['createMcpServer'];
  http: McpHttpDoor;
}

function createMcp({ config, logger, now }: MemoryCore, createContext: App['createContext']): Mcp {
  const { toolGroups, sessions, sessionIdleSeconds: idleSeconds, maxSessions } = config.mcp;
  const surface = bindSurface(schema);
  const newServer = (groups = toolGroups): McpServer =>
    createMcpServer({
      ...surface,
      tools: selectTools(surface.tools, groups),
      butler: config.butler,
      schema,
      logger,
      execute: async (document, variableValues) =>
        execute({ schema, document, variableValues, contextValue: createContext() }),
    });
  const http = createMcpHttpDoor({
    newServer,
    toolGroups,
    bodyLimitBytes,
    sessions: sessions ? { idleSeconds, maxSessions, now } : undefined,
  });
  return { newServer, http };
}

const ok: Awaited<ReturnType<CheckFunction>> = { status: 'ok', detail: null };
const starting: Awaited<ReturnType<CheckFunction>> = { status: 'starting', detail: 'not started yet' };

async function checkMigrations({ db }: MemoryCore): ReturnType<CheckFunction> {
  const pending = await pendingMigrations(db);
  return pending.length === 0 ? ok : { status: 'failed', detail: `not applied: ${pending.join(', ')}` };
}

/** A job that does not run is no reason to send requests elsewhere, but somebody should look. */
async function checkSchedules(core: MemoryCore): ReturnType<CheckFunction> {
  const schedules = await readSchedules(core);
  const isIll = schedules.some(({ status }) => status === 'missed' || status === 'failing');
  return { status: isIll ? 'degraded' : 'ok', detail: describeTroubles(schedules) };
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
  graphql: GraphQLHttpDoor;
  health: HealthProbe;
  mcp: McpHttpDoor;
  metrics: Metrics;
}

const knownPaths = ['/', '/graphql', '/mcp', '/healthz', '/readyz', '/metrics'] as const;

async function answer(request: Request, doors: Doors): Promise<Response> {
  const requestContext = acceptRequestContext(request.headers);
  return withRequestContext(requestContext, async () => {
    const { logger } = doors.core;
    const startedAt = performance.now();
    const path = URL.canParse(request.url) ? new URL(request.url).pathname : request.url;
    const response = await route(path, request, doors, requestContext).catch((error: unknown) => {
      if (hasHungUp(request, error)) return new Response(null, { status: clientClosedRequest });
      const { code, message } = describeError(error, logger);
      return refuse(500, code, message);
    });
    const milliseconds = Math.round(performance.now() - startedAt);
    const { method } = request;
    doors.metrics.countRequest({ method, path, status: response.status, seconds: milliseconds / 1000 });
    logger.info({ method, path, status: response.status, milliseconds }, 'request');
    // On the response itself: a feed in a new one would never learn that its client hung up.
    response.headers.set('x-request-id', requestContext.requestId);
    return response;
  });
}

/** Nobody reads the answer; the number is for the log, and the one that proxies use. */
const clientClosedRequest = 499;

function hasHungUp({ signal }: Request, error: unknown): boolean {
  return signal.aborted || (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

async function route(path: string, request: Request, doors: Doors, requestContext: RequestContext): Promise<Response> {
  const foreignness = findForeignness(request.url, request.headers.get('origin'));
  if (foreignness !== undefined) return refuse(403, 'FORBIDDEN', foreignness);
  switch (path) {
    case '/':
      return new Response(renderLandingPage(doors.core.config), {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      });
    case '/graphql':
      return doors.graphql.fetch(request, requestContext);
    case '/mcp':
      return doors.mcp.fetch(request);
    case '/healthz':
      return Response.json({ status: 'ok' });
    case '/readyz': {
      const health = await doors.health.read();
      return Response.json(health, { status: isReady(health) ? 200 : 503 });
    }
    case '/metrics': {
      const { contentType, text } = await doors.metrics.render();
      return new Response(text, { headers: { 'content-type': contentType } });
    }
    default:
      return refuse(404, 'NOT_FOUND', `nothing is at ${path}`);
  }
}

function refuse(status: number, code: DescribedError['code'], message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}
