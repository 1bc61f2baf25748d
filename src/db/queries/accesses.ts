import { Prisma, type AccessRecord } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';

/** In one round trip: every read of an admin waits for it. */
export async function insertAccess(db: TenantDatabase, row: AccessRecord): Promise<void> {
  const statement = Prisma.sql`
    INSERT INTO access_records (
      tenant_id, id, accessed_at, kind, actor, request_id, operations, ids, digest, home_tenant, entered_tenant
    ) VALUES (
      ${row.tenantId}, ${row.id}::uuid, ${row.accessedAt}::timestamptz, ${row.kind}, ${row.actor}, ${row.requestId},
      ${row.operations}::text[], ${row.ids}::text[], ${row.digest}, ${row.homeTenant}, ${row.enteredTenant})`;
  await db.roundTrip([statement]);
}
