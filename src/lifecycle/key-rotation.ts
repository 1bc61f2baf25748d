import type { Transaction } from '../db/database.ts';
import {
  countFactsToSeal,
  lockFactsToSeal,
  selectFactsToSeal,
  writeSealed,
  type FactToSeal,
  type KeysQuery,
} from '../db/sql/data-keys.ts';
import { updateEmbeddings } from '../db/queries/embeddings.ts';
import type { Opened, StoredFact } from '../db/stored-fact.ts';
import { rewrapDataKey, sealValues, type DataKey } from '../encryption/data-key.ts';
import { isOutage, MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { createKey, findActive, requireMasterKey, useActiveKey } from '../memory/data-keys.ts';
import { embedAll, requireModel, vectorsToWrite, type EmbeddedText } from '../memory/embed.ts';
import { textOf } from '../memory/embedded-text.ts';
import { openReadable, sealedPlaceholder } from '../memory/sealing.ts';
import { findMasterKey } from '../memory/vault.ts';
import type { SweepOptions } from './sweep.ts';

export interface KeyRotationOptions extends SweepOptions {
  /** Of one transaction. As many as it holds for a moment only: so much a crash costs. 100 when left out. */
  readonly rowsPerBatch?: number | undefined;
}

export type KeyRotationReport = {
  /** Data keys that are wrapped by the present master key now, and were by the one before. */
  rewrapped: number;
  /** Data keys that were made. */
  created: number;
  /** Facts that were sealed anew, and facts that were in plain before. */
  resealed: number;
  sealed: number;
  /** Facts that still are to be: somebody held them, they cannot be read or written, or the sweep was told to stop. */
  remaining: number;
  /** Facts that could not be sealed, and were passed over. */
  failed: number;
};

/**
 * Gives a tenant a new data key and seals its facts under it, and those that ought to be sealed and are not. A rotation
 * that was stopped is finished before another one begins. Each fact names its key, so all of them can be read at any
 * moment. What a fact says does not change: there is no event, and old events keep what they hold, under the old keys.
 */
export async function sweepKeys(context: MemoryContext, options: KeyRotationOptions): Promise<KeyRotationReport> {
  const report: KeyRotationReport = { rewrapped: 0, created: 0, resealed: 0, sealed: 0, remaining: 0, failed: 0 };
  if (context.vault.masterKeys.current === undefined) return report;
  const rewrapping = await rewrapKeys(context, options);
  report.rewrapped = rewrapping.count;
  const due = await countDue(context);
  const isNewKeyDue = due.sealed === 0 && (due.activeKeyId !== null || due.plain > 0);
  if (options.dryRun) return foretell(context, { ...due, isNewKeyDue }, report);
  if (isNewKeyDue) {
    await replaceKey(context, due.activeKeyId);
    report.created = 1;
  }
  await sealAll(context, options, report);
  // Only now: one key that cannot be rewrapped keeps nothing else from being sealed.
  if (rewrapping.problem !== null) throw rewrapping.problem;
  return report;
}

/** One statement a key, each of which holds by itself. */
async function rewrapKeys(
  context: MemoryContext,
  { dryRun }: SweepOptions,
): Promise<{ count: number; problem: MemoryError | null }> {
  const { db, vault, principal } = context;
  const { tenantId } = principal;
  const master = requireMasterKey(context);
  const { dataKey } = db.client;
  const where = { tenantId, masterKeyId: { not: master.id }, status: { not: 'lost' } };
  const rows = await dataKey.findMany({ where });
  if (dryRun) return { count: rows.length, problem: null };
  let problem: MemoryError | null = null;
  let count = 0;
  for (const { id, masterKeyId, wrappedKey } of rows) {
    const from = findMasterKey(vault, masterKeyId);
    const wrapped = from === undefined ? null : rewrapDataKey({ from, to: master }, { tenantId, id }, wrappedKey);
    if (wrapped === null) {
      problem ??= new MemoryError('UNREADABLE', `data key ${id} is not what a known master key wrapped`);
      continue;
    }
    await dataKey.updateMany({ where: { ...where, id }, data: { wrappedKey: wrapped, masterKeyId: master.id } });
    count++;
  }
  return { count, problem };
}

interface Due {
  activeKeyId: string | null;
  /** Facts under other keys than the active one, and facts in plain. */
  sealed: number;
  plain: number;
}

async function countDue(context: MemoryContext): Promise<Due> {
  return context.db.transaction(async (transaction) => {
    const activeKeyId = (await findActive(context, transaction))?.id ?? null;
    const [counts] = await transaction.$queryRaw<{ sealed: number; plain: number }[]>(
      countFactsToSeal(queryOf(context, activeKeyId)),
    );
    return { activeKeyId, sealed: counts?.sealed ?? 0, plain: counts?.plain ?? 0 };
  });
}

function queryOf({ principal, vault }: MemoryContext, activeKeyId: string | null): KeysQuery {
  return { tenantId: principal.tenantId, patternSource: vault.patternSource, activeKeyId };
}

async function foretell(
  { db, principal: { tenantId } }: MemoryContext,
  { plain, sealed, isNewKeyDue }: Due & { isNewKeyDue: boolean },
  report: KeyRotationReport,
): Promise<KeyRotationReport> {
  const all = isNewKeyDue ? await db.client.fact.count({ where: { tenantId, dataKeyId: { not: null } } }) : 0;
  return { ...report, created: isNewKeyDue ? 1 : 0, resealed: isNewKeyDue ? all : sealed, sealed: plain };
}

/** Waits for writers that seal under the old key. Should another process have replaced it already, nothing is done. */
async function replaceKey(context: MemoryContext, activeKeyId: string | null): Promise<void> {
  const { tenantId } = context.principal;
  await context.db.transaction(async (transaction) => {
    if (activeKeyId !== null) {
      const where = { tenantId, id: activeKeyId, status: 'active' };
      const data = { status: 'retired', retiredAt: context.now() };
      const { count } = await transaction.dataKey.updateMany({ where, data });
      if (count === 0) return;
    }
    await createKey(context, transaction);
  });
}

const firstId = '00000000-0000-0000-0000-000000000000';

/** Round by round, since rows may be held meanwhile. Ends after a round that got nowhere. */
async function sealAll(context: MemoryContext, options: KeyRotationOptions, report: KeyRotationReport): Promise<void> {
  let due = await countDue(context);
  const total = due.sealed + due.plain;
  const failed = new Set<string>();
  let isMoving = true;
  while (isMoving && due.sealed + due.plain > 0 && options.signal?.aborted !== true) {
    const before = report.resealed + report.sealed;
    for await (const facts of batchesOf(context, options, due.activeKeyId)) {
      const counts = await sealWritable(
        context,
        facts.filter(({ id }) => !failed.has(id)),
        failed,
      );
      report.resealed += counts.resealed;
      report.sealed += counts.sealed;
      options.progress?.(Math.min(total, report.resealed + report.sealed), total);
    }
    isMoving = report.resealed + report.sealed > before;
    due = await countDue(context);
  }
  report.remaining = due.sealed + due.plain;
  report.failed = failed.size;
}

/** What fails together is tried again in halves, until the fact that is to blame stands alone and is passed over. */
async function sealWritable(
  context: MemoryContext,
  facts: readonly FactToSeal[],
  failed: Set<string>,
): Promise<Sealed> {
  const [only] = facts;
  if (only === undefined) return { resealed: 0, sealed: 0 };
  try {
    return await sealBatch(context, facts);
  } catch (error) {
    if (isOutage(error)) throw error;
    if (facts.length === 1) {
      await requireModel(context, error);
      context.logger.error({ err: error, factId: only.id }, 'a fact could not be sealed, and was passed over');
      failed.add(only.id);
      return { resealed: 0, sealed: 0 };
    }
    const middle = Math.ceil(facts.length / 2);
    const first = await sealWritable(context, facts.slice(0, middle), failed);
    const second = await sealWritable(context, facts.slice(middle), failed);
    return { resealed: first.resealed + second.resealed, sealed: first.sealed + second.sealed };
  }
}

interface Sealed {
  resealed: number;
  sealed: number;
}

async function* batchesOf(
  context: MemoryContext,
  options: KeyRotationOptions,
  activeKeyId: string | null,
): AsyncGenerator<FactToSeal[]> {
  const client = context.db.client;
  let after = firstId;
  while (options.signal?.aborted !== true) {
    const statement = selectFactsToSeal(queryOf(context, activeKeyId), after, options.rowsPerBatch ?? 100);
    const facts = await client.$queryRaw<FactToSeal[]>(statement);
    const last = facts.at(-1);
    if (last === undefined) return;
    yield facts;
    after = last.id;
  }
}

/** The vectors of what was in plain were made of all of it, and are made anew of what may be known. */
async function sealBatch(context: MemoryContext, facts: readonly FactToSeal[]): Promise<Sealed> {
  const plain = facts.filter(({ isSealed }) => !isSealed);
  const texts = plain.map((fact) => textOf('fact', { ...fact, content: sealedPlaceholder }));
  const embedded = texts.length === 0 ? [] : await embedAll(context, texts);
  const vectors = new Map(plain.map(({ id }, place) => [id, embedded[place] as EmbeddedText]));
  return context.db.transaction(async (transaction) => {
    const key = await useActiveKey(context, transaction);
    const ids = facts.map(({ id }) => id);
    const rows = await transaction.$queryRaw<FactRow[]>(lockFactsToSeal(queryOf(context, key.id), ids));
    const wanted = rows.filter(({ id, dataKeyId }) => dataKeyId !== null || vectors.has(id));
    const readable = await openReadable(context, wanted, transaction);
    await writeRows(context, transaction, key, readable);
    const first = wanted.filter(({ dataKeyId }) => dataKeyId === null);
    await writeVectors(context, transaction, first, vectors);
    return { resealed: readable.length - first.length, sealed: first.length };
  });
}

type FactRow = Pick<StoredFact, 'id' | 'content' | 'tags' | 'metadata' | 'sealedContent' | 'dataKeyId'>;

async function writeRows(
  { principal }: MemoryContext,
  transaction: Transaction,
  key: DataKey,
  rows: readonly Opened<FactRow>[],
): Promise<void> {
  if (rows.length === 0) return;
  const sealed = rows.map((row) => ({ id: row.id, sealedContent: sealValues(key, row.id, row) }));
  await transaction.$executeRaw(writeSealed(principal.tenantId, key.id, sealed));
}

async function writeVectors(
  context: MemoryContext,
  transaction: Transaction,
  rows: readonly { id: string }[],
  vectors: ReadonlyMap<string, EmbeddedText>,
): Promise<void> {
  if (rows.length === 0) return;
  const texts = rows.map(({ id }) => vectors.get(id) as EmbeddedText);
  const embeddings = await vectorsToWrite(context, transaction, texts);
  for (const [place, { id }] of rows.entries()) {
    await updateEmbeddings(transaction, { type: 'fact', id }, embeddings[place] ?? []);
  }
}
