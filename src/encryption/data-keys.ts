import { v7 as uuidv7 } from 'uuid';
import type { Logger } from 'pino';
import type { TenantClient, TenantDatabase, Transaction } from '../db/database.ts';
import { lockActiveKey, matchesPatterns, type StoredKey } from '../db/queries/data-keys.ts';
import { newWrappedKey, unwrapDataKey, type DataKey } from './data-key.ts';
import type { MasterKey } from './master-keys.ts';
import { MemoryError } from '../shared/errors.ts';
import { findMasterKey, type Vault } from './vault.ts';

/** What opening a sealed fact needs of a MemoryContext. */
export interface KeyContext {
  readonly db: TenantDatabase;
  readonly vault: Vault;
}

/** What sealing a fact needs of a MemoryContext: it may have to make the tenant's first data key. */
export interface SealingContext extends KeyContext {
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Returns whether facts of this predicate are sealed. Call it before the transaction, as it may take a round trip. */
export async function isToBeSealed(context: KeyContext, predicate: string): Promise<boolean> {
  const { vault, db } = context;
  if (vault.patternSource === null) return false;
  const known = vault.isSealed.get(predicate);
  if (known !== undefined) return known;
  const isMatch = await matchesPatterns(db.client, predicate, vault.patternSource);
  vault.isSealed.set(predicate, isMatch);
  return isMatch;
}

/**
 * Makes the tenant's first data key, if it has none, in a transaction of its own: otherwise two writers that make it at
 * once would wait for each other's whole write.
 */
export async function prepareSealing(context: SealingContext): Promise<void> {
  const { vault, db } = context;
  if (vault.tenants.get(db.tenantId) !== undefined) return;
  await db.transaction(async (transaction) => {
    if ((await findActive(context, transaction)) === null) await createKey(context, transaction);
  });
  vault.tenants.set(db.tenantId, true);
}

/** Locks and returns the active key, so that it stays active until the transaction ends. */
export async function useActiveKey(context: SealingContext, transaction: Transaction): Promise<DataKey> {
  // A key that was retired while we waited for its lock is no longer active; the next look sees its successor.
  for (let looks = 0; looks < 3; looks++) {
    const row = await lockActiveKey(transaction);
    if (row !== null) return unwrap(context, row);
    if ((await findActive(context, transaction)) === null) await createKey(context, transaction);
  }
  throw new MemoryError('CONFLICT', 'the data keys are being changed by others', { hint: 'Send it again.' });
}

/** Returns a key by its id. Within a transaction that is under way, give it: it has the only connection. */
export async function getDataKey(
  context: KeyContext,
  id: string,
  client: TenantClient = context.db.client,
): Promise<DataKey> {
  const { tenantId } = context.db;
  const known = context.vault.dataKeys.get(nameKey(tenantId, id));
  if (known !== undefined) return known;
  const row = await client.dataKey.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (row === null) throw new MemoryError('UNREADABLE', `data key ${id} is not there`);
  return unwrap(context, row);
}

export async function findActive(context: KeyContext, transaction: Transaction): Promise<{ id: string } | null> {
  const { tenantId } = context.db;
  return transaction.dataKey.findFirst({ where: { tenantId, status: 'active' }, select: { id: true } });
}

/** Makes an active key, unless a concurrent transaction has made one. */
export async function createKey(context: SealingContext, transaction: Transaction): Promise<void> {
  const { tenantId } = context.db;
  const master = requireMasterKey(context);
  const id = uuidv7();
  const key = {
    tenantId,
    id,
    wrappedKey: newWrappedKey(master, { tenantId, id }),
    masterKeyId: master.id,
    status: 'active',
    createdAt: context.now(),
  };
  const { count } = await transaction.dataKey.createMany({ data: [key], skipDuplicates: true });
  if (count > 0) context.logger.info({ tenantId, dataKeyId: id, masterKeyId: master.id }, 'data key made');
}

export function requireMasterKey({ vault }: Pick<KeyContext, 'vault'>): MasterKey {
  const { current } = vault.masterKeys;
  if (current === undefined) {
    throw new MemoryError('CONFIGURATION', 'butler.encryption.master_key must be 32 random bytes in base64 (got none)');
  }
  return current;
}

function unwrap({ vault, db: { tenantId } }: KeyContext, { id, ...row }: StoredKey): DataKey {
  const known = vault.dataKeys.get(nameKey(tenantId, id));
  if (known !== undefined) return known;
  const master = findMasterKey(vault, row.masterKeyId);
  if (row.status === 'lost' || master === undefined) {
    throw new MemoryError(
      'UNREADABLE',
      `data key ${id} is wrapped by master key ${row.masterKeyId}, which is not here`,
    );
  }
  const key = unwrapDataKey(master, { tenantId, id }, row.wrappedKey);
  if (key === null) throw new MemoryError('UNREADABLE', `data key ${id} is not what master key ${master.id} wrapped`);
  vault.dataKeys.set(nameKey(tenantId, id), key);
  return key;
}

function nameKey(tenantId: string, id: string): string {
  return JSON.stringify([tenantId, id]);
}
