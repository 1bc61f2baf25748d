import { v7 as uuidv7 } from 'uuid';
import type { TenantClient, Transaction } from '../db/database.ts';
import { lockActiveKey, matchesPatterns, type StoredKey } from '../db/queries/data-keys.ts';
import { newWrappedKey, unwrapDataKey, type DataKey } from '../encryption/data-key.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from './context.ts';
import { findMasterKey } from './vault.ts';

/** What it takes to read what is sealed. */
export type KeyContext = Pick<MemoryContext, 'db' | 'principal' | 'vault'>;

/** Whether a fact of this predicate is to be sealed. Asked before the transaction, as it may take a round trip. */
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
 * Makes the tenant's first data key, if it has none. In a transaction of its own: two that make it at once would else
 * wait for each other's whole write.
 */
export async function prepareSealing(context: MemoryContext): Promise<void> {
  const { vault, db, principal } = context;
  if (vault.tenants.get(principal.tenantId) !== undefined) return;
  await db.transaction(async (transaction) => {
    if ((await findActive(context, transaction)) === null) await createKey(context, transaction);
  });
  vault.tenants.set(principal.tenantId, true);
}

/** The key to seal with, which stays the active one until the transaction ends. */
export async function useActiveKey(context: MemoryContext, transaction: Transaction): Promise<DataKey> {
  // A row that was retired while it was waited for is not there any more, and its successor is seen by the next look.
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
  const { tenantId } = context.principal;
  const known = context.vault.dataKeys.get(nameOf(tenantId, id));
  if (known !== undefined) return known;
  const row = await client.dataKey.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (row === null) throw new MemoryError('UNREADABLE', `data key ${id} is not there`);
  return unwrap(context, row);
}

export async function findActive(context: KeyContext, transaction: Transaction): Promise<{ id: string } | null> {
  const { tenantId } = context.principal;
  return transaction.dataKey.findFirst({ where: { tenantId, status: 'active' }, select: { id: true } });
}

/** Of two that do it at once one makes the key, and the other finds it. */
export async function createKey(context: MemoryContext, transaction: Transaction): Promise<void> {
  const { tenantId } = context.principal;
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
    throw new MemoryError('CONFIGURATION', 'butler.encryption.master_key: 32 random bytes in base64; given none');
  }
  return current;
}

function unwrap({ vault, principal: { tenantId } }: KeyContext, { id, ...row }: StoredKey): DataKey {
  const known = vault.dataKeys.get(nameOf(tenantId, id));
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
  vault.dataKeys.set(nameOf(tenantId, id), key);
  return key;
}

function nameOf(tenantId: string, id: string): string {
  return JSON.stringify([tenantId, id]);
}
