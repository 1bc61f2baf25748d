import { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../database.ts';

/** Locks a quarantined item until the transaction ends; nothing happens where it is not there. */
export async function lockQuarantinedItem(transaction: Transaction, id: string): Promise<void> {
  const { tenantId } = transaction;
  await transaction.$queryRaw(Prisma.sql`
    SELECT id FROM quarantined_items WHERE tenant_id = ${tenantId} AND id = ${id}::uuid FOR UPDATE`);
}
