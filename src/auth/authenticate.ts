import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import type { Database, FoundToken } from '../db/database.ts';
import type { Principal, Role } from '../memory/context.ts';
import type { Admission, Identity } from './admission.ts';
import { enterNamedTenant } from './grant.ts';
import { createJwtVerifier, unauthenticated } from './jwt.ts';
import { hashToken, tokenPrefix } from './tokens.ts';

export interface Authenticator {
  /** Whether callers must authenticate. */
  readonly isRequired: boolean;
  /**
   * Authenticates the bearer of this header, in the tenant that it names, if any. Rejects with UNAUTHENTICATED for an
   * invalid token, and with FORBIDDEN for a tenant that the caller may not enter.
   */
  authenticate(authorization: string | null | undefined, namedTenant?: string | null): Promise<Admission>;
}

/** Without authentication, every caller on the loopback address is the operator of the one tenant. */
export const localOperator: Principal = { tenantId: 'default', butler: null, role: 'operator', servesAll: true };

interface Sources {
  config: Config;
  db: Pick<Database, 'findToken' | 'hasTenant' | 'forTenant'>;
  now: () => Date;
  logger: Logger;
}

export function createAuthenticator(sources: Sources): Authenticator {
  const identify = createIdentifier(sources);
  return {
    isRequired: sources.config.auth.mode === 'required',
    authenticate: async (authorization, namedTenant) => {
      const { principal, grant, endsAt, tokenHash } = await identify(authorization);
      return { principal: await enterNamedTenant(sources.db, principal, grant, namedTenant), endsAt, tokenHash };
    },
  };
}

function createIdentifier(sources: Sources): (authorization: string | null | undefined) => Promise<Identity> {
  const { mode, jwt } = sources.config.auth;
  if (mode === 'none') return async () => ({ principal: localOperator, grant: null, endsAt: null, tokenHash: null });
  const verifyJwt = createJwtVerifier(jwt);
  return async (authorization) => {
    const token = readBearer(authorization);
    if (token.startsWith(tokenPrefix)) return identityOfToken(sources, token);
    if (verifyJwt === undefined) throw unauthenticated('a token of ours, which begins with bmt_');
    return verifyJwt(token);
  };
}

function readBearer(authorization: string | null | undefined): string {
  const [, token] = /^Bearer ([\w.~+/=-]{1,8192})$/i.exec(authorization ?? '') ?? [];
  if (token === undefined) throw unauthenticated(authorization ? 'Bearer and a token' : 'none was sent');
  return token;
}

async function identityOfToken(sources: Sources, token: string): Promise<Identity> {
  const now = sources.now();
  const tokenHash = hashToken(token);
  const found = await sources.db.findToken(tokenHash, now);
  if (found === undefined) throw unauthenticated('the token is not known, has expired or was revoked');
  noteUse(sources, found, now);
  const { id, tenantId, butler, role, expiresAt: endsAt, across, acrossWrite } = found;
  return {
    principal: { tenantId, butler, role: role as Role, credential: `token ${id}` },
    grant: across.length === 0 ? null : { tenants: across, mayWrite: acrossWrite },
    endsAt,
    tokenHash,
  };
}

/** To the minute: a write for every request would cost more than what it tells. */
const useResolutionMs = 60_000;

function noteUse({ db, logger }: Sources, { tenantId, id, lastUsedAt }: FoundToken, now: Date): void {
  if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < useResolutionMs) return;
  db.forTenant(tenantId)
    .client.apiToken.updateMany({ where: { tenantId, id }, data: { lastUsedAt: now } })
    .catch((error: unknown) => logger.warn({ err: error }, 'the use of a token could not be written down'));
}
