import type { Config } from '../config/schema.ts';

type Origins = { readonly butler: Pick<Config['butler'], 'allowedOrigins'> };

/** Whether the pages of this origin may ask and read, as the configuration says. */
export function isAllowedOrigin(origin: string | null | undefined, { butler }: Origins): boolean {
  return origin !== null && origin !== undefined && butler.allowedOrigins.includes(origin);
}

const methods = 'GET, POST, DELETE';
/** What clients of GraphQL and of MCP send; all else that is harmless a browser sends without asking. */
const requestHeaders =
  'authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, x-butler-tenant, x-request-id';
const responseHeaders = 'mcp-session-id, retry-after, www-authenticate, x-request-id';
const preflightSeconds = '600';

/** The question of a browser whether a page may ask; undefined for any other request. It carries no token. */
export function answerPreflight({ method, headers }: Request, config: Origins): Response | undefined {
  const isPreflight = method === 'OPTIONS' && headers.has('access-control-request-method');
  if (!isPreflight || !isAllowedOrigin(headers.get('origin'), config)) return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': preflightSeconds,
    },
  });
}

/** No leave to send cookies: nothing here reads one. */
export function setCorsHeaders(headers: Headers, origin: string | null, config: Origins): void {
  if (config.butler.allowedOrigins.length === 0) return;
  // Else a cache would give one origin the answer to another.
  headers.append('vary', 'origin');
  if (origin === null || !isAllowedOrigin(origin, config)) return;
  headers.set('access-control-allow-origin', origin);
  headers.set('access-control-expose-headers', responseHeaders);
}
