import type { Config } from '../config/schema.ts';
import type { MemoryError } from '../shared/errors.ts';

/** Where a client that was refused learns who can vouch for it (RFC 9728, as the Model Context Protocol asks). */
export const protectedResourcePath = '/.well-known/oauth-protected-resource';

export interface ProtectedResource {
  resource: string;
  /** Left out where there is none, as an empty list is allowed neither by RFC 9728 nor by the protocol. */
  authorization_servers?: [string];
  bearer_methods_supported: ['header'];
  resource_name: string;
}

export function protectedResource(url: string, config: Config): ProtectedResource {
  const { issuer } = config.auth.jwt;
  return {
    resource: `${buildAddress(url, config)}/mcp`,
    // Tokens of our own come from the command line of the server, which no client can be sent to.
    ...(issuer !== undefined && { authorization_servers: [issuer] as [string] }),
    bearer_methods_supported: ['header'],
    resource_name: config.butler.name,
  };
}

export function refuseUnauthenticated(error: MemoryError, url: string, config: Config): Response {
  const metadata = `${buildAddress(url, config)}${protectedResourcePath}/mcp`;
  const body = { error: { code: error.code, message: error.message, hint: error.hint } };
  const challenge = `Bearer error="invalid_token", resource_metadata="${metadata}"`;
  return Response.json(body, { status: 401, headers: { 'www-authenticate': challenge } });
}

function buildAddress(url: string, { butler }: Config): string {
  return (butler.publicUrl ?? new URL(url).origin).replace(/\/$/, '');
}
