import { readFile } from 'node:fs/promises';
import { createRemoteJWKSet, importJWK, importSPKI, jwtVerify, errors, type CryptoKey, type JWTPayload } from 'jose';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../errors.ts';
import { roles, type Principal, type Role } from '../memory/context.ts';

/** Who a JSON Web Token says that its bearer is, once it is proved that our issuer said so. */
export type JwtVerifier = (token: string) => Promise<Principal>;

type JwtConfig = Config['auth']['jwt'];

/** Undefined when none are configured. */
export function createJwtVerifier(config: JwtConfig): JwtVerifier | undefined {
  const { issuer, audience, clockToleranceSeconds: clockTolerance, tenantClaim, butlerClaim, roleClaim } = config;
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
      return principalOf(payload, { tenantClaim, butlerClaim, roleClaim });
    } catch (error) {
      if (error instanceof errors.JOSEError) throw unauthenticated(describeFault(error), error);
      throw error;
    }
  };
}

/** By public key only: who checks a shared secret could also sign with it. */
const signatures = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

function findKey({
  jwksUrl,
  keyFile,
  algorithm,
}: JwtConfig): ReturnType<typeof createRemoteJWKSet> | Promise<CryptoKey> {
  if (jwksUrl !== undefined) return createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 5000 });
  const key = readKey(keyFile as string, algorithm);
  // Whoever needs it first gets the reason; until then it is nobody's fault.
  key.catch(() => undefined);
  return key;
}

async function readKey(path: string, algorithm: string): Promise<CryptoKey> {
  try {
    const text = await readFile(path, 'utf8');
    if (!text.trimStart().startsWith('{')) return await importSPKI(text, algorithm);
    return (await importJWK(JSON.parse(text), algorithm)) as CryptoKey;
  } catch (cause) {
    throw new MemoryError('CONFIGURATION', `butler.auth.jwt.key_file: a public key in PEM or JWK form; given ${path}`, {
      cause,
    });
  }
}

type Claims = Pick<JwtConfig, 'tenantClaim' | 'butlerClaim' | 'roleClaim'>;

function principalOf(payload: JWTPayload, { tenantClaim, butlerClaim, roleClaim }: Claims): Principal {
  const tenantId = payload[tenantClaim];
  const butler = payload[butlerClaim] ?? null;
  const role = payload[roleClaim] ?? 'butler';
  if (typeof tenantId !== 'string' || tenantId === '')
    throw unauthenticated(`the claim ${tenantClaim} names no tenant`);
  if (butler !== null && (typeof butler !== 'string' || butler === '')) {
    throw unauthenticated(`the claim ${butlerClaim} names no butler`);
  }
  if (!roles.includes(role as Role)) throw unauthenticated(`the claim ${roleClaim} is none of ${roles.join(', ')}`);
  if (role === 'butler' && butler === null) throw unauthenticated(`the claim ${butlerClaim} is missing`);
  return { tenantId, butler, role: role as Role };
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
