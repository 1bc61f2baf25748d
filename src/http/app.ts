import type { ExecutionResult } from 'graphql';
import type { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import { startQueue, type Queue } from '../../jobs/queue.ts';
import { createJobRunner } from '../../jobs/runner.ts';
import { createAuthenticator, localOperator, type Authenticator } from '../auth/authenticate.ts';
import { currentCaller } from '../auth/caller.ts';
import { createGrantWatch, type GrantWatch } from '../auth/grant-watch.ts';
import type { MemoryCore } from '../create-memory.ts';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../shared/errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { createOperations, type Operation, type Operations } from '../graphql/execute.ts';
import { createGraphQLHttpDoor } from '../graphql/http.ts';
import { schema } from '../graphql/schema.ts';
import { checkMigrations, checkModel, checkSchedules, ok, starting } from '../lifecycle/checks.ts';
import { createHealthProbe, type HealthProbe } from '../lifecycle/health.ts';
import { createLimits, type Limits } from '../limits/limits.ts';
import { ModelHealth } from '../lifecycle/model-health.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createMcpHttpDoor, type McpHttpDoor } from '../mcp/http.ts';
import { bindSurface, createMcpServer, selectTools } from '../mcp/server.ts';
import { recordAccess } from '../memory/accesses.ts';
import { createActivityFeed, type ActivityFeedTimes } from '../memory/activity/activity-feed.ts';
import type { MemoryContext, Principal } from '../memory/context.ts';
import { requireAction, isPermitted, isReadOnly, reaches } from '../memory/permissions.ts';
import { ReferenceQueue } from '../memory/references.ts';
import { loadTokenizer } from '../retrieval/context/tokenizers.ts';
import { describeModel, findModelChanges } from '../memory/embedding-versions.ts';
import { mayBeKept } from '../redaction/redactor.ts';
import { currentRequestContext, newRequestContext, type RequestContext } from '../shared/request-context.ts';
import { answerRequest } from './routes.ts';
import type { ToolGroup } from '../config/tool-groups.ts';

export interface App {
  /** Every HTTP request, so that a test needs no port. */
  fetch(request: Request): Promise<Response>;
  /** For doors that are not HTTP: graphql-ws and MCP over stdio. Fields that are not given come from the current request. */
  createContext(requestContext?: Partial<RequestContext>, caller?: Principal): GraphQLContext;
  /** With the tools of all groups that are configured, unless told otherwise; for the caller of each request, or `caller`. */
  createMcpServer(groups?: readonly ToolGroup[], caller?: Principal): McpServer;
  /** Authenticates callers. */
  authenticator: Authenticator;
  /** For how long what they opened may go on. */
  grantWatch: GrantWatch;
  /** How much they may ask for. */
  limits: Limits;
  metrics: Metrics;
  /** Runs operations that do not come as HTTP requests to /graphql. */
  operations: Operations;
  health: HealthProbe;
  /** The slow parts, after the server answers: the job queue and the embedding model. Rejects if one cannot start. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Of one request, at every door. No honest one comes near it. */
export const bodyLimitBytes = 4 * 1024 * 1024;

export function createApp(core: MemoryCore, activityTimes: ActivityFeedTimes = {}): App {
  let queue: Queue | undefined;
  let queueStart: Promise<void> | undefined;
  const health = watchParts(core, () => queue);
  const activity = createActivityFeed({ ...activityTimes, logger: core.logger });
  const references = new ReferenceQueue(core);
  const jobs = createJobRunner(core, () => queue);
  const metrics = createMetrics(core);
  const limits = createLimits({ ...core, refused: (reason) => metrics.countRefusal(reason) });
  const authenticator = createAuthenticator(core);
  const grantWatch = createGrantWatch(core);
  const createContext = contextMaker(core, authenticator, { health, activity, references, jobs });
  const { introspection = isDevelopment(core.config), graphiql = isDevelopment(core.config) } = core.config.graphql;
  const pipeline = { mayIntrospect: introspection, limits, grantWatch, logger: core.logger };
  const graphql = createGraphQLHttpDoor({ ...pipeline, graphiql, bodyLimitBytes, createContext });
  const operations = createOperations(graphql, pipeline);
  const newMcpServer = mcpServers(core, {
    findPrincipal: (caller = currentCaller()) => caller ?? requireOpenness(authenticator),
    execute: (operation, caller) => operations.execute({ ...operation, contextValue: createContext({}, caller) }),
  });
  const mcp = createMcpDoor(core, newMcpServer);
  const startDatabaseParts = async (): Promise<void> => {
    const changed = await reportModelChanges(core);
    queue = await startQueue(core);
    // At once, and not when its schedule comes round.
    if (core.config.schedule.reembed.enabled) for (const tenantId of changed) await queue.request('reembed', tenantId);
  };
  return {
    fetch: (request) =>
      answerRequest(request, { core, authenticator, graphql, health, limits, mcp, metrics, grantWatch }),
    createContext,
    createMcpServer: newMcpServer,
    operations,
    authenticator,
    grantWatch,
    limits,
    metrics,
    health,
    start: async () => {
      queueStart = startDatabaseParts();
      await queueStart;
      await core.embedder.load();
      await core.reranker?.load();
      // Some megabytes, which the first context would wait for; a missing tokenizer fails the start.
      await loadTokenizer(core.config);
      // Clients that wait for the start ask now.
      health.forget();
    },
    stop: async () => {
      activity.close();
      grantWatch.close();
      await mcp.close();
      await references.stop();
      await jobs.stop();
      // A queue that is still starting would go on after the database is closed.
      await queueStart?.catch(() => undefined);
      await queue?.stop();
    },
  };
}

function isDevelopment({ butler }: Config): boolean {
  return butler.environment === 'development';
}

type Parts = Pick<GraphQLContext, 'health' | 'activity' | 'references' | 'jobs'>;

function contextMaker(core: MemoryCore, authenticator: Authenticator, parts: Parts): App['createContext'] {
  const { now, embedder, reranker, vault, caches, logger, config } = core;
  return (given = {}, caller = currentCaller()) => ({
    ...parts,
    recordAccess: (context, access) => recordAccess(core.db, context, access),
    memory: {
      ...bindDatabase(core, caller ?? requireOpenness(authenticator)),
      now,
      embedder,
      reranker,
      vault,
      caches,
      logger,
      config,
      requestContext: { ...(currentRequestContext() ?? newRequestContext()), ...given },
    },
  });
}

function watchParts(core: MemoryCore, queue: () => Queue | undefined): HealthProbe {
  const modelHealth = new ModelHealth(core);
  const checks = {
    database: async () => core.db.ping().then(() => ok),
    migrations: () => checkMigrations(core.db),
    model: () => checkModel(core.embedder, modelHealth),
    queue: async () =>
      queue()
        ?.check()
        .then(() => ok) ?? starting,
    schedules: async () => (queue() === undefined ? starting : checkSchedules(core)),
  };
  return createHealthProbe(core.db.engine, checks, core.now);
}

/**
 * Returns the database as the caller may use it, whatever the code above forgets: read-only where it may change nothing,
 * and confined to what is global and its own for a butler.
 */
function bindDatabase({ db }: MemoryCore, principal: Principal): Pick<MemoryContext, 'db' | 'principal'> {
  const { tenantId, butler, role, visit } = principal;
  if (visit?.mayWrite === false || isReadOnly(role)) {
    return { principal, db: db.forTenant(tenantId, { readOnly: true }) };
  }
  if (reaches[role] === 'tenant') return { principal, db: db.forTenant(tenantId) };
  if (!butler) throw new MemoryError('UNAUTHENTICATED', 'authorization must be that of a butler that has a name');
  return { principal, db: db.forTenant(tenantId, { butler }) };
}

/** Returns the operator for a call that no door authenticated; throws where authentication is required. */
function requireOpenness({ isRequired }: Authenticator): Principal {
  if (isRequired) throw new MemoryError('UNAUTHENTICATED', 'authorization must be a caller (got none)');
  return localOperator;
}

type NewMcpServer = App['createMcpServer'];

interface McpCallers {
  /** Tells which tools a caller is offered. */
  findPrincipal: (caller?: Principal) => Principal;
  /** Called for each tool call; may wait for the database. */
  execute: (operation: Omit<Operation, 'contextValue'>, caller?: Principal) => Promise<ExecutionResult>;
}

/** Makes MCP servers that need no database until a tool is called. */
export function mcpServers(
  { config, logger }: Pick<MemoryCore, 'config' | 'logger'>,
  { findPrincipal, execute }: McpCallers,
): NewMcpServer {
  const surface = bindSurface(schema);
  return (groups = config.mcp.toolGroups, caller) =>
    createMcpServer({
      ...surface,
      tools: selectTools(surface.tools, groups),
      butler: config.butler,
      schema,
      logger,
      mayCall: ({ kind, field }) => isPermitted({ principal: findPrincipal(caller) }, requireAction(kind, field.name)),
      mayBeKept: (id) => mayBeKept(config, id),
      execute: (document, variableValues) => execute({ document, variableValues }, caller),
    });
}

function createMcpDoor({ config, now }: MemoryCore, newServer: NewMcpServer): McpHttpDoor {
  const { toolGroups, sessions, sessionIdleSeconds: idleSeconds, maxSessions } = config.mcp;
  return createMcpHttpDoor({
    newServer,
    toolGroups,
    bodyLimitBytes,
    sessions: sessions ? { idleSeconds, maxSessions, now } : undefined,
  });
}

/** The tenants that are to be re-embedded. */
async function reportModelChanges({ db, embedder, logger }: MemoryCore): Promise<string[]> {
  const changes = await findModelChanges(db, embedder.model);
  for (const { tenantId, stored, configured } of changes) {
    const text = `tenant ${tenantId} has vectors of ${describeModel(stored)}; configured is ${describeModel(configured)}; they are not compared, and made anew`;
    logger.warn({ tenantId, stored, configured }, text);
  }
  return changes.map(({ tenantId }) => tenantId);
}
