import { readFile } from 'node:fs/promises';
import {
  createRemoteJWKSet,
  importJWK,
  importSPKI,
  jwtVerify,
  errors,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../shared/errors.ts';
import { roles, type Role } from '../memory/context.ts';
import { normaliseName } from '../memory/text.ts';
import type { Identity } from './admission.ts';
import { everyTenant, type Grant } from './grant.ts';

/** Verifies a JSON Web Token of our issuer and returns the identity of its bearer. */
export type JwtVerifier = (token: string) => Promise<Identity>;

type JwtConfig = Config['auth']['jwt'];

/** Undefined when none are configured. */
export function createJwtVerifier(config: JwtConfig): JwtVerifier | undefined {
  const { issuer, audience, clockToleranceSeconds: clockTolerance } = config;
  const { tenantClaim, butlerClaim, roleClaim, acrossClaim, acrossWriteClaim } = config;
  if (issuer === undefined || audience === undefined) return undefined;
  const key = findKey(config);
  const options = {
    issuer,
    audience,
    algorithms: [...signatures],
    clockTolerance,
    requiredClaims: ['exp'],
  };
  return async (token) => {
    try {
      // The two forms of a key have no common type.
      const { payload } =
        typeof key === 'function' ? await jwtVerify(token, key, options) : await jwtVerify(token, await key, options);
      const endsAt = new Date(((payload.exp as number) + clockTolerance) * 1000);
      // What is open under such a token would never be ended.
      if (Number.isNaN(endsAt.getTime())) throw unauthenticated('the claim exp is beyond any date');
      const claims = { tenantClaim, butlerClaim, roleClaim, acrossClaim, acrossWriteClaim };
      return { ...readIdentity(payload, claims), endsAt, tokenHash: null };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw unauthenticated(describeFault(error), error);
      throw error;
    }
  };
}

/** By public key only: who checks a shared secret could also sign with it. */
const signatures = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

function findKey({ jwksUrl, keyFile, algorithm }: JwtConfig): JWTVerifyGetKey | Promise<CryptoKey> {
  if (jwksUrl !== undefined) return loadKeys(jwksUrl);
  const key = readKey(keyFile as string, algorithm);
  // The first use of the key reports the error; an unhandled rejection would end the process.
  key.catch(() => undefined);
  return key;
}

/** The keys that the issuer has now: one that is not among them is asked for again, at most every half a minute. */
function loadKeys(jwksUrl: string): JWTVerifyGetKey {
  const findRemoteKey = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 5000 });
  return async (header, token) => {
    try {
      return await findRemoteKey(header, token);
    } catch (cause) {
      if (isAboutToken(cause)) throw cause;
      throw new MemoryError('ISSUER_UNAVAILABLE', 'the keys of the issuer of JSON Web Tokens cannot be had', {
        hint: 'Try again soon; if it stays so, butler.auth.jwt.jwks_url is to be looked at. Tokens of our own are taken.',
        cause,
      });
    }
  };
}

/** What else is thrown is about the issuer: not reached, no answer in time, no set of keys. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

async function readKey(path: string, algorithm: string): Promise<CryptoKey> {
  try {
    const text = await readFile(path, 'utf8');
    if (!text.trimStart().startsWith('{')) return await importSPKI(text, algorithm);
    return (await importJWK(JSON.parse(text), algorithm)) as CryptoKey;
  } catch (cause) {
    throw new MemoryError(
      'CONFIGURATION',
      `butler.auth.jwt.key_file must be a public key in PEM or JWK form (got ${path})`,
      {
        cause,
      },
    );
  }
}

type Claims = Pick<JwtConfig, 'tenantClaim' | 'butlerClaim' | 'roleClaim' | 'acrossClaim' | 'acrossWriteClaim'>;

function readIdentity(payload: JWTPayload, claims: Claims): Pick<Identity, 'principal' | 'grant'> {
  const { tenantClaim, butlerClaim, roleClaim } = claims;
  const tenantId = payload[tenantClaim];
  const butler = payload[butlerClaim] ?? null;
  const role = payload[roleClaim] ?? 'butler';
  if (!isName(tenantId)) throw unauthenticated(`the claim ${tenantClaim} names no tenant`);
  if (butler !== null && !isName(butler)) throw unauthenticated(`the claim ${butlerClaim} names no butler`);
  if (!roles.includes(role as Role)) throw unauthenticated(`the claim ${roleClaim} is none of ${roles.join(', ')}`);
  if (role === 'butler' && butler === null) throw unauthenticated(`the claim ${butlerClaim} is missing`);
  const subject = typeof payload.sub === 'string' ? payload.sub.slice(0, subjectLimit) : null;
  const credential = `subject ${JSON.stringify(subject)}`;
  return { principal: { tenantId, butler, role: role as Role, credential }, grant: readGrant(payload, claims) };
}

const subjectLimit = 200;

/** Issuers may sign anything: a name is what could also be stored as one, and never the sign for every tenant. */
function isName(claim: unknown): claim is string {
  if (typeof claim !== 'string' || claim === everyTenant) return false;
  try {
    return normaliseName('claim', claim) === claim;
  } catch {
    return false;
  }
}

/** Throws for a grant of any other form: read as none, it would surprise its bearer elsewhere. */
function readGrant(payload: JWTPayload, { roleClaim, acrossClaim, acrossWriteClaim }: Claims): Grant | null {
  const across = payload[acrossClaim] ?? null;
  if (across === null) return null;
  if (payload[roleClaim] !== 'admin') throw unauthenticated(`the claim ${acrossClaim} is for the role admin alone`);
  const mayWrite = payload[acrossWriteClaim] === true;
  if (across === 'all') return { tenants: [everyTenant], mayWrite };
  if (Array.isArray(across) && across.length > 0 && across.every(isName)) return { tenants: across, mayWrite };
  throw unauthenticated(`the claim ${acrossClaim} is neither "all" nor a list of tenants`);
}

function describeFault(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `the claim ${error.claim} is not what it must be`;
  return 'the token is not one that our issuer signed';
}

export function unauthenticated(reason: string, cause?: unknown): MemoryError {
  return new MemoryError('UNAUTHENTICATED', `authorization: ${reason}`, {
    hint: 'Send the header "authorization: Bearer" and a token that is valid.',
    ...(cause !== undefined && { cause }),
  });
}
