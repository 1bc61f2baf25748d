import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Admission } from '../auth/admission.ts';
import { callerKey, sessionKey, withCaller } from '../auth/caller.ts';
import { protectedResource, protectedResourcePath, refuseUnauthenticated } from '../auth/challenge.ts';
import { decodeTenant, tenantHeader } from '../auth/grant.ts';
import type { GrantWatch } from '../auth/grant-watch.ts';
import type { Config } from '../config/schema.ts';
import type { MemoryCore } from '../create-memory.ts';
import { answerPreflight, setCorsHeaders } from './cors.ts';
import { describeError, type DescribedError } from '../shared/describe-error.ts';
import { describeGiven, MemoryError, retryableCodes } from '../shared/errors.ts';
import type { GraphQLHttpDoor } from '../graphql/http.ts';
import { isReady, type HealthProbe } from '../lifecycle/health.ts';
import { renderLandingPage } from './landing-page.ts';
import { findCrossSite, findForeignness } from './loopback.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { Limits } from '../limits/limits.ts';
import { releaseAtEnd } from '../limits/release-at-end.ts';
import { refuse as refuseMcp } from '../mcp/errors.ts';
import type { McpHttpDoor } from '../mcp/http.ts';
import type { Principal } from '../memory/context.ts';
import { authorize, isPermitted } from '../memory/permissions.ts';
import type { Metrics } from './metrics.ts';
import { mayBeKept } from '../redaction/redactor.ts';
import { acceptRequestContext, withRequestContext, type RequestContext } from '../shared/request-context.ts';
import { pagePolicy, setSecurityHeaders } from '../shared/security-headers.ts';

export interface Doors {
  core: MemoryCore;
  authenticator: Authenticator;
  graphql: GraphQLHttpDoor;
  health: HealthProbe;
  limits: Limits;
  mcp: McpHttpDoor;
  metrics: Metrics;
  grantWatch: GrantWatch;
}

export const knownPaths = ['/', '/graphql', '/mcp', '/healthz', '/readyz', '/metrics'] as const;

/** Asked every few seconds by machines, so their lines would bury all others. /metrics counts them. */
const probePaths: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Every HTTP request, from its id to its line in the log. */
export async function answerRequest(request: Request, doors: Doors): Promise<Response> {
  const requestContext = acceptRequestContext(request.headers, (id) => mayBeKept(doors.core.config, id));
  return withRequestContext(requestContext, async () => {
    const { logger } = doors.core;
    const startedAt = performance.now();
    lowerMediaTypes(request.headers);
    const path = URL.canParse(request.url) ? new URL(request.url).pathname : request.url;
    const response = await route(path, request, doors, requestContext).catch((error: unknown) => {
      if (hasHungUp(request, error)) return new Response(null, { status: clientClosedRequest });
      if (error instanceof LimitError) return refuseAt(path, error, error.status, error.headers);
      const described = describeError(error, logger);
      if (described.code === 'FORBIDDEN') return refuse(403, described.code, described.message);
      return refuseAt(path, described, retryableCodes.has(described.code) ? 503 : 500);
    });
    const milliseconds = Math.round(performance.now() - startedAt);
    const { method } = request;
    const { status } = response;
    // A path that is not ours may hold a secret, and callers must not be able to make up labels.
    const label = (knownPaths as readonly string[]).includes(path) ? path : 'other';
    doors.metrics.countRequest({ method, path: label, status, seconds: milliseconds / 1000 });
    const level = probePaths.has(path) ? 'debug' : 'info';
    logger[level]({ method, path: label, status, milliseconds }, 'request');
    // On the response itself: a feed in a new one would never learn that its client hung up.
    response.headers.set('x-request-id', requestContext.requestId);
    setCorsHeaders(response.headers, request.headers.get('origin'), doors.core.config);
    setSecurityHeaders(response.headers);
    return response;
  });
}

/** Media types are compared without case (RFC 9110), which neither Yoga nor the MCP SDK does. */
function lowerMediaTypes(headers: Headers): void {
  for (const name of ['accept', 'content-type']) {
    const given = headers.get(name);
    if (given !== null && given !== given.toLowerCase()) headers.set(name, given.toLowerCase());
  }
}

/** Nobody reads the answer; the number is for the log, and the one that proxies use. */
const clientClosedRequest = 499;

function hasHungUp({ signal }: Request, error: unknown): boolean {
  return signal.aborted || (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

async function route(path: string, request: Request, doors: Doors, requestContext: RequestContext): Promise<Response> {
  const { config } = doors.core;
  const foreignness = findForeignOrigin(path, request, config);
  if (foreignness !== undefined) {
    doors.metrics.countRefusal('foreign');
    return refuse(403, 'FORBIDDEN', foreignness);
  }
  const preflight = answerPreflight(request, config);
  if (preflight !== undefined) return preflight;
  switch (path) {
    case '/':
      return showPage(renderLandingPage(config));
    case '/healthz':
      return Response.json({ status: 'ok' });
    case '/readyz':
      return tellReadiness(request, doors);
    case protectedResourcePath:
    case `${protectedResourcePath}/mcp`:
      return Response.json(protectedResource(request.url, config));
    case '/graphql':
      return (
        refuseForm(request) ??
        forLimitedCaller(request, doors, async () => doors.graphql.fetch(request, requestContext))
      );
    case '/mcp':
      return forLimitedCaller(request, doors, (admission) => fetchMcp(request, doors, admission));
    case '/metrics':
      return forCaller(request, doors, ({ principal }) => tellMetrics(doors.metrics, principal));
    default:
      return refuse(404, 'NOT_FOUND', `nothing is at ${path}`);
  }
}

function findForeignOrigin(path: string, { url, headers }: Request, config: Config): string | undefined {
  const origin = headers.get('origin');
  const foreignness = findForeignness(url, origin, config);
  // A link on a page of others may lead to the first page, which tells and does nothing.
  return path === '/' ? foreignness : (foreignness ?? findCrossSite(headers.get('sec-fetch-site'), origin));
}

/** The types of body that a page of another site can send without asking first are those of forms. */
function refuseForm({ method, headers }: Request): Response | undefined {
  const given = headers.get('content-type');
  const type = given?.split(';')[0]?.trim();
  if (method !== 'POST' || type === 'application/json') return undefined;
  return refuse(415, 'BAD_REQUEST', `content-type must be application/json (got ${describeGiven(given)})`);
}

/** Authenticates the request; answers 401 on failure. */
async function forCaller(
  request: Request,
  { authenticator, core, metrics }: Doors,
  work: (admission: Admission) => Promise<Response>,
): Promise<Response> {
  const { headers } = request;
  try {
    const named = headers.get(tenantHeader);
    const tenant = named === null ? null : decodeTenant(named);
    const admission = await authenticator.authenticate(headers.get('authorization'), tenant);
    return await withCaller(admission, () => work(admission));
  } catch (error) {
    if (!(error instanceof MemoryError && error.code === 'UNAUTHENTICATED')) throw error;
    metrics.countRefusal('unauthenticated');
    return refuseUnauthenticated(error, request.url, core.config);
  }
}

/** Rate-limits before authentication, so that a flood is rejected cheaply, and waits for the caller's turn. */
async function forLimitedCaller(
  request: Request,
  doors: Doors,
  work: (admission: Admission) => Promise<Response>,
): Promise<Response> {
  const authorization = request.headers.get('authorization');
  return doors.limits.runRequest({ authorization, hungUp: request.signal }, (claim) =>
    forCaller(request, doors, async (admission) => {
      await claim(callerKey(admission.principal));
      return work(admission);
    }),
  );
}

/** A stream of a session is a feed and has no end of its own. */
async function fetchMcp(request: Request, { mcp, limits, grantWatch }: Doors, admission: Admission): Promise<Response> {
  const { principal } = admission;
  if (request.method !== 'GET') return mcp.fetch(request, sessionKey(principal));
  const close = limits.openFeed(callerKey(principal));
  const { signal, release } = grantWatch.watch(admission);
  const end = (): void => [close, release].forEach((finish) => finish());
  try {
    const response = await mcp.fetch(request, sessionKey(principal));
    return releaseAtEnd(response, { signal: AbortSignal.any([request.signal, signal]) }, end);
  } catch (error) {
    end();
    throw error;
  }
}

/** The details are for those who run it: they name tenants and models. */
async function tellReadiness(request: Request, doors: Doors): Promise<Response> {
  const read = await doors.health.read();
  const body = (await mayKnowDetails(request, doors)) ? read : { status: read.status };
  return Response.json(body, { status: isReady(read) ? 200 : 503 });
}

/** Everybody learns readiness. The caller is authenticated only where that needs no wait. */
async function mayKnowDetails(request: Request, { authenticator, limits, core }: Doors): Promise<boolean> {
  const authorization = request.headers.get('authorization');
  if (!authenticator.isRequired) return true;
  if (authorization === null) return false;
  try {
    return await limits.runRequest({ authorization }, async (claim) => {
      const { principal } = await authenticator.authenticate(authorization);
      await claim(callerKey(principal));
      return isPermitted({ principal }, 'route /readyz');
    });
  } catch (error) {
    // A reason to tell less, not a reason to tell nothing.
    if (!(error instanceof MemoryError)) core.logger.warn({ err: error }, 'could not authenticate the /readyz caller');
    return false;
  }
}

async function tellMetrics(metrics: Metrics, principal: Principal): Promise<Response> {
  authorize({ principal }, 'route /metrics');
  const { contentType, text } = await metrics.render();
  return new Response(text, { headers: { 'content-type': contentType } });
}

function refuse(status: number, code: DescribedError['code'], message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}

/** In the form that clients of that path read. */
function refuseAt(
  path: string,
  { code, message, hint }: DescribedError,
  status: number,
  headers: Record<string, string> = status === 503 ? { 'retry-after': '1' } : {},
): Response {
  const text = hint === undefined ? message : `${message} (${hint})`;
  if (path === '/mcp') return refuseMcp(status, ErrorCode.InternalError, text, headers, { code });
  return Response.json({ error: { code, message, ...(hint !== undefined && { hint }) } }, { status, headers });
}

function showPage(html: string): Response {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy(html) };
  return new Response(html, { headers });
}
