import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import type { Database, FoundToken } from '../db/database.ts';
import type { Principal, Role } from '../memory/context.ts';
import { createJwtVerifier, unauthenticated } from './jwt.ts';
import { hashToken, tokenPrefix } from './tokens.ts';

export interface Authenticator {
  /** Whether whoever reaches the port must say who they are. */
  readonly isRequired: boolean;
  /** Who sends a request with this header. Rejects with UNAUTHENTICATED whom nobody vouches for. */
  authenticate(authorization: string | null | undefined): Promise<Principal>;
}

/** With no authentication configured, whoever reaches the loopback address is the operator of the one tenant. */
export const localOperator: Principal = { tenantId: 'default', butler: null, role: 'operator' };

interface Sources {
  config: Config;
  db: Pick<Database, 'findToken' | 'tenant'>;
  now: () => Date;
  logger: Logger;
}

export function createAuthenticator(sources: Sources): Authenticator {
  if (sources.config.auth.mode === 'none') return { isRequired: false, authenticate: async () => localOperator };
  const verifyJwt = createJwtVerifier(sources.config.auth.jwt);
  return {
    isRequired: true,
    authenticate: async (authorization) => {
      const token = readBearer(authorization);
      if (token.startsWith(tokenPrefix)) return principalOfToken(sources, token);
      if (verifyJwt === undefined) throw unauthenticated('a token of ours, which begins with bmt_');
      return verifyJwt(token);
    },
  };
}

function readBearer(authorization: string | null | undefined): string {
  const [, token] = /^Bearer ([\w.~+/=-]{1,8192})$/i.exec(authorization ?? '') ?? [];
  if (token === undefined) throw unauthenticated(authorization ? 'Bearer and a token' : 'none was sent');
  return token;
}

async function principalOfToken(sources: Sources, token: string): Promise<Principal> {
  const now = sources.now();
  const found = await sources.db.findToken(hashToken(token), now);
  if (found === undefined) throw unauthenticated('the token is not known, has expired or was revoked');
  noteUse(sources, found, now);
  return { tenantId: found.tenantId, butler: found.butler, role: found.role as Role };
}

/** To the minute: a write for every request would cost more than what it tells. */
const useResolutionMs = 60_000;

function noteUse({ db, logger }: Sources, { tenantId, id, lastUsedAt }: FoundToken, now: Date): void {
  if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < useResolutionMs) return;
  db.tenant(tenantId)
    .apiToken.updateMany({ where: { tenantId, id }, data: { lastUsedAt: now } })
    .catch((error: unknown) => logger.warn({ err: error }, 'the use of a token could not be written down'));
}
