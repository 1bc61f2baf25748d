import type { Fact } from '../../generated/prisma/client.ts';
import type { Database, TenantClient, Transaction } from '../database.ts';

/** Statements that give facts the keys of another lexicon. */

export type FactToRekey = Pick<
  Fact,
  | 'id'
  | 'scope'
  | 'subject'
  | 'subjectKey'
  | 'predicate'
  | 'predicateKey'
  | 'valueKey'
  | 'createdAt'
  | 'validFrom'
  | 'validTo'
> & {
  /** Whether no other fact of its key may be live beside it. */
  isCurrent: boolean;
};

/** Lists the tenants that have facts and whose texts were last embedded by another lexicon. */
export async function listTenantsToRekey(database: Database, textForm: string): Promise<string[]> {
  return database.asOwner(async (client) => {
    const { rows } = await client.query<{ tenant: string }>(
      `SELECT v.tenant_id AS tenant FROM embedding_versions v
       WHERE v.status = 'active' AND v.text_form <> $1 AND EXISTS (SELECT FROM facts f WHERE f.tenant_id = v.tenant_id)
       ORDER BY 1`,
      [textForm],
    );
    return rows.map(({ tenant }) => tenant);
  });
}

/** Lists all facts, the oldest first, and locks them until the transaction ends. */
export async function listFactsToRekey(transaction: Transaction): Promise<FactToRekey[]> {
  return transaction.$queryRaw`
    SELECT id::text, scope, subject, subject_key AS "subjectKey", predicate, predicate_key AS "predicateKey",
      value_key AS "valueKey", created_at AS "createdAt", valid_from AS "validFrom", valid_to AS "validTo",
      kind = 'state' AND validity IN ('active', 'fading') AND NOT set_aside AS "isCurrent"
    FROM facts WHERE tenant_id = ${transaction.tenantId} ORDER BY created_at, id FOR UPDATE`;
}

/** Writes no event: keys follow from predicates, and events do not keep them. */
export async function updateKeys(
  client: TenantClient,
  id: string,
  { predicateKey, valueKey }: Pick<Fact, 'predicateKey' | 'valueKey'>,
): Promise<void> {
  await client.$executeRaw`
    UPDATE facts SET predicate_key = ${predicateKey}, value_key = ${valueKey}
    WHERE tenant_id = ${client.tenantId} AND id = ${id}::uuid`;
}
