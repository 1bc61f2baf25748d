import type { Transaction } from '../db/database.ts';
import {
  countFactsToSeal,
  listFactsToSeal,
  lockFactsToSeal,
  writeSealed,
  type FactToSeal,
  type KeysQuery,
} from '../db/queries/facts-to-seal.ts';
import { updateEmbeddings } from '../db/queries/embeddings.ts';
import { rewrapDataKey, sealValues } from '../encryption/data-key.ts';
import { MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { createKey, findActive, requireMasterKey, useActiveKey } from '../memory/data-keys.ts';
import { embedAll, requireModel, vectorsToWrite, type EmbeddedText } from '../memory/embed.ts';
import { textOf } from '../memory/embedded-text.ts';
import { openReadable, sealedPlaceholder } from '../memory/sealing.ts';
import { findMasterKey } from '../memory/vault.ts';
import { firstId, inHalves, type SweepOptions } from './sweep.ts';

export interface KeyRotationOptions extends SweepOptions {
  /** Rows per transaction, 100 by default. A crash loses the work of one transaction. */
  readonly rowsPerBatch?: number | undefined;
}

export type KeyRotationReport = {
  /** Data keys that were wrapped by an earlier master key, and now are by the present one. */
  rewrapped: number;
  /** New data keys. */
  created: number;
  /** Facts that were sealed under another key before, and facts that were in plain text. */
  resealed: number;
  sealed: number;
  /** Facts that are still due: they were locked, cannot be read or written, or the sweep was aborted. */
  remaining: number;
  /** Facts that were passed over because they could not be sealed. */
  failed: number;
};

/**
 * Creates a new data key and seals the tenant's facts under it, and those that ought to be sealed and are not. Finishes an
 * aborted rotation before it begins another. Each fact names its key, so all can be read at any moment. No events are
 * written, because what a fact says does not change; old events stay sealed under the old keys.
 */
export async function sweepKeys(context: MemoryContext, options: KeyRotationOptions): Promise<KeyRotationReport> {
  const report: KeyRotationReport = { rewrapped: 0, created: 0, resealed: 0, sealed: 0, remaining: 0, failed: 0 };
  if (context.vault.masterKeys.current === undefined) return report;
  const rewrapping = await rewrapKeys(context, options);
  report.rewrapped = rewrapping.count;
  const due = await countDue(context);
  const isNewKeyDue = due.sealed === 0 && (due.activeKeyId !== null || due.plain > 0);
  if (options.dryRun) return reportDue(context, { ...due, isNewKeyDue }, report);
  if (isNewKeyDue) {
    await replaceKey(context, due.activeKeyId);
    report.created = 1;
  }
  await sealAll(context, options, report);
  // Thrown last, so that a key that cannot be rewrapped does not keep facts from being sealed.
  if (rewrapping.problem !== null) throw rewrapping.problem;
  return report;
}

/** Wraps each data key by the present master key, in a statement of its own. */
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
  /** Facts under other keys than the active one, and facts in plain text. */
  sealed: number;
  plain: number;
}

async function countDue(context: MemoryContext): Promise<Due> {
  return context.db.transaction(async (transaction) => {
    const activeKeyId = (await findActive(context, transaction))?.id ?? null;
    return { activeKeyId, ...(await countFactsToSeal(transaction, buildQuery(context, activeKeyId))) };
  });
}

function buildQuery({ vault }: MemoryContext, activeKeyId: string | null): KeysQuery {
  return { patternSource: vault.patternSource, activeKeyId };
}

async function reportDue(
  { db, principal: { tenantId } }: MemoryContext,
  { plain, sealed, isNewKeyDue }: Due & { isNewKeyDue: boolean },
  report: KeyRotationReport,
): Promise<KeyRotationReport> {
  const all = isNewKeyDue ? await db.client.fact.count({ where: { tenantId, dataKeyId: { not: null } } }) : 0;
  return { ...report, created: isNewKeyDue ? 1 : 0, resealed: isNewKeyDue ? all : sealed, sealed: plain };
}

/** Replaces the key, unless another process already did. Waits for writers that seal under the old key. */
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

/** Works in rounds, because rows may be locked meanwhile. Ends after a round without progress. */
async function sealAll(context: MemoryContext, options: KeyRotationOptions, report: KeyRotationReport): Promise<void> {
  let due = await countDue(context);
  const total = due.sealed + due.plain;
  const failed = new Set<string>();
  let isMoving = true;
  while (isMoving && due.sealed + due.plain > 0 && options.signal?.aborted !== true) {
    const before = report.resealed + report.sealed;
    for await (const facts of readBatches(context, options, due.activeKeyId)) {
      const wanted = facts.filter(({ id }) => !failed.has(id));
      for (const { resealed, sealed } of await sealWritable(context, wanted, failed)) {
        report.resealed += resealed;
        report.sealed += sealed;
      }
      options.progress?.(Math.min(total, report.resealed + report.sealed), total);
    }
    isMoving = report.resealed + report.sealed > before;
    due = await countDue(context);
  }
  report.remaining = due.sealed + due.plain;
  report.failed = failed.size;
}

/** Passes over facts that cannot be sealed, unless the model embeds nothing at all. */
async function sealWritable(
  context: MemoryContext,
  facts: readonly FactToSeal[],
  failed: Set<string>,
): Promise<Sealed[]> {
  return inHalves(
    facts,
    async (some) => [await sealBatch(context, some)],
    async ({ id }, error) => {
      await requireModel(context, error);
      context.logger.error({ err: error, factId: id }, 'a fact could not be sealed, and was passed over');
      failed.add(id);
    },
  );
}

interface Sealed {
  resealed: number;
  sealed: number;
}

async function* readBatches(
  context: MemoryContext,
  options: KeyRotationOptions,
  activeKeyId: string | null,
): AsyncGenerator<FactToSeal[]> {
  let after = firstId;
  while (options.signal?.aborted !== true) {
    const page = { after, limit: options.rowsPerBatch ?? 100 };
    const facts = await listFactsToSeal(context.db.client, buildQuery(context, activeKeyId), page);
    const last = facts.at(-1);
    if (last === undefined) return;
    yield facts;
    after = last.id;
  }
}

/** Embeds facts that were in plain text again, because their vectors were made of the text that is now sealed. */
async function sealBatch(context: MemoryContext, facts: readonly FactToSeal[]): Promise<Sealed> {
  const plain = facts.filter(({ isSealed }) => !isSealed);
  const texts = plain.map((fact) => textOf('fact', { ...fact, content: sealedPlaceholder }));
  const embedded = texts.length === 0 ? [] : await embedAll(context, texts);
  const vectors = new Map(plain.map(({ id }, place) => [id, embedded[place] as EmbeddedText]));
  return context.db.transaction(async (transaction) => {
    const key = await useActiveKey(context, transaction);
    const ids = facts.map(({ id }) => id);
    const rows = await lockFactsToSeal(transaction, buildQuery(context, key.id), ids);
    const wanted = rows.filter(({ id, dataKeyId }) => dataKeyId !== null || vectors.has(id));
    const readable = await openReadable(context, wanted, transaction);
    const sealed = readable.map((row) => ({ id: row.id, sealedContent: sealValues(key, row.id, row) }));
    await writeSealed(transaction, key.id, sealed);
    const first = wanted.filter(({ dataKeyId }) => dataKeyId === null);
    await writeVectors(context, transaction, first, vectors);
    return { resealed: readable.length - first.length, sealed: first.length };
  });
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
