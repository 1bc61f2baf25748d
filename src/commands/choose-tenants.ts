import type { Database } from '../db/database.ts';
import { invalidInput } from '../shared/errors.ts';

/** All of them when none is named. One that is not there is refused: work on it would look like work well done. */
export async function chooseTenants(db: Database, tenant: string | undefined): Promise<string[]> {
  const tenants = await db.listTenants();
  if (tenant === undefined) return tenants;
  if (tenants.includes(tenant) || (await hasHistory(db, tenant))) return [tenant];
  throw invalidInput('tenant', tenants.length === 0 ? 'none, as there is none yet' : tenants.join(', '), tenant);
}

/** Returns whether a tenant without memories has events. */
async function hasHistory(db: Database, tenantId: string): Promise<boolean> {
  if (tenantId === '') return false;
  return (await db.forTenant(tenantId).client.eventChain.findFirst({ where: { tenantId } })) !== null;
}
