import type { Database } from '../db/database.ts';
import { describeGiven, MemoryError } from '../shared/errors.ts';
import type { Principal } from '../memory/context.ts';

/** Leave to work in other tenants than one's own. */
export interface Grant {
  /** By name; `everyTenant` stands for all that there are. */
  readonly tenants: readonly string[];
  readonly mayWrite: boolean;
}

export const everyTenant = '*';

/** The header, and the key of graphql-ws' connectionParams, in which the holder of a grant names the tenant. */
export const tenantHeader = 'x-butler-tenant';

/** A header has no letters but those of English: others come as a URL has them. */
export function decodeTenant(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** Returns the caller in the tenant that it named, or in its own if it named none. */
export async function enterNamedTenant(
  db: Pick<Database, 'hasTenant'>,
  own: Principal,
  grant: Grant | null,
  named: string | null | undefined,
): Promise<Principal> {
  const servesAll = grant !== null && grant.mayWrite && grant.tenants.includes(everyTenant);
  const principal: Principal = servesAll ? { ...own, servesAll } : own;
  if (named === null || named === undefined) return principal;
  if (grant === null) throw refusal('none, as there is no grant across tenants', named);
  if (named === own.tenantId) return principal;
  if (!grant.tenants.some((tenant) => tenant === named || tenant === everyTenant)) {
    throw refusal('one that the grant names', named);
  }
  // The database takes no other text.
  const isText = named.isWellFormed() && !named.includes('\0');
  if (!isText || !(await db.hasTenant(named))) throw refusal('a tenant that is there', named);
  const visit = { home: own.tenantId, mayWrite: grant.mayWrite };
  return { ...principal, tenantId: named, butler: null, visit };
}

function refusal(allowed: string, named: string): MemoryError {
  return new MemoryError('FORBIDDEN', `${tenantHeader} must be ${allowed} (got ${describeGiven(named)})`);
}
