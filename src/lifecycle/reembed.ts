import { memoryTypes, type MemoryType } from '../db/tables.ts';
import type { NewEmbedding } from '../db/queries/embeddings.ts';
import { countVectors, fillVectors, listRowsToEmbed, type RowToEmbed } from '../db/queries/reembed.ts';
import type { Embedding } from '../embedding/embedder.ts';
import { packSigns } from '../embedding/token-vectors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { requireModel } from '../memory/embed.ts';
import { textOf } from '../memory/embedded-text.ts';
import {
  activateVersion,
  describeModel,
  findActive,
  findVersionOf,
  isCurrent,
  lockVersions,
  registerVersion,
  retireVersion,
  type VersionInUse,
} from '../memory/embedding-versions.ts';
import { clearRetired, countLacking, countRows } from './embedding-progress.ts';
import { firstId, inHalves, type SweepOptions } from './sweep.ts';

export interface ReembedOptions extends SweepOptions {
  /** When this process read its configuration; by default when it started. */
  readonly configuredAt?: Date | undefined;
}

export type ReembedReport = {
  /** Rows that got a vector of the configured model. */
  embedded: number;
  /** Rows that still lack one: they were locked, cannot be embedded, or the sweep was aborted. */
  remaining: number;
  /** Rows that the model could not embed. The next sweep tries them again. */
  failed: number;
  /** Versions that became active or were retired, and vectors of retired versions that were cleared. */
  activated: number;
  retired: number;
  cleared: number;
};

const processStartedAt = new Date(performance.timeOrigin);

/**
 * Brings a tenant to the configured embedding model: every row gets a vector beside the old one, and when none lacks it,
 * the version is switched. Search uses the old version until then. An aborted sweep is continued by the next one. Vectors
 * of retired versions are cleared once no search can be using them.
 */
export async function sweepEmbeddings(context: MemoryContext, options: ReembedOptions): Promise<ReembedReport> {
  const report: ReembedReport = { embedded: 0, remaining: 0, failed: 0, activated: 0, retired: 0, cleared: 0 };
  const choice = await chooseTarget(context, options);
  if (choice !== null && options.dryRun) await reportDue(context, choice, report);
  else if (choice !== null) await bringTo(context, options, choice, report);
  report.cleared = await clearRetired(context, options);
  return report;
}

interface Choice {
  /** The version of the configured model; undefined when it is not registered yet. */
  known: VersionInUse | undefined;
  /** The version that it replaces. */
  replaced: VersionInUse | undefined;
  /** Versions that were being built when the configuration changed again. */
  abandoned: VersionInUse[];
}

/** Returns null when there is nothing to do in this tenant. */
async function chooseTarget(
  context: MemoryContext,
  { configuredAt = processStartedAt }: ReembedOptions,
): Promise<Choice | null> {
  const { embedder, logger, principal } = context;
  const { tenantId } = principal;
  const versions = await context.db.transaction((transaction) => lockVersions(context, transaction));
  const newer = findNewer(versions, context, configuredAt);
  if (newer !== undefined) {
    const models = { configured: embedder.model, newer: describeModel(newer) };
    logger.warn(
      { tenantId, ...models },
      'another process has switched to another embedding model since this one started',
    );
    return null;
  }
  if (versions.length === 0 && (await countRows(context)) === 0) return null;
  return choose(versions, context);
}

function choose(versions: readonly VersionInUse[], { embedder }: MemoryContext): Choice {
  const known = findVersionOf(versions, embedder.model);
  const abandoned = versions.filter((version) => version.status === 'building' && version !== known);
  return { known, abandoned, replaced: versions.find((version) => version.status === 'active' && version !== known) };
}

async function reportDue(
  context: MemoryContext,
  { known, replaced, abandoned }: Choice,
  report: ReembedReport,
): Promise<void> {
  report.embedded = await countLacking(context, known);
  report.activated = known?.status === 'building' || (known === undefined && replaced !== undefined) ? 1 : 0;
  report.retired = abandoned.length + (replaced === undefined ? 0 : 1);
}

async function bringTo(
  context: MemoryContext,
  options: ReembedOptions,
  { known, abandoned }: Choice,
  report: ReembedReport,
): Promise<void> {
  const version = known === undefined || abandoned.length > 0 ? await prepare(context, report) : known;
  const failed = new Set<string>();
  let isMoving = true;
  do {
    isMoving = await fill({ context, options, report, version, failed });
    // Rows without the vector may be written until the switch locks the versions, so it counts them again.
    if (version.status === 'building' && report.remaining <= report.failed) await activate(context, version, report);
  } while (isMoving && report.remaining > report.failed && options.signal?.aborted !== true);
}

/** Registers the configured model, in the slot of an abandoned version if necessary. */
async function prepare(context: MemoryContext, report: ReembedReport): Promise<VersionInUse> {
  return context.db.transaction(async (transaction) => {
    const versions = await lockVersions(context, transaction, 'alone');
    const { known, abandoned } = choose(versions, context);
    for (const version of abandoned) await retireVersion(context, transaction, version);
    report.retired += abandoned.length;
    const kept = versions.filter((version) => !abandoned.includes(version));
    return known ?? registerVersion(context, transaction, kept);
  });
}

/**
 * Finds a version that another process switched to after this one started: that process has a newer configuration, and its
 * work must not be undone.
 */
function findNewer(
  versions: readonly VersionInUse[],
  { embedder }: MemoryContext,
  configuredAt: Date,
): VersionInUse | undefined {
  return versions.find(({ status, createdAt, activatedAt, ...version }) => {
    if (isCurrent(version, embedder.model)) return false;
    if (status === 'building') return createdAt > configuredAt;
    // The first model of a tenant is active from the start: nobody switched to it.
    return activatedAt !== null && activatedAt > createdAt && activatedAt > configuredAt;
  });
}

/** The model takes a few seconds for a batch at most, and a crash loses no more than that. */
const rowsPerBatch = 64;

interface Filling {
  context: MemoryContext;
  options: ReembedOptions;
  report: ReembedReport;
  version: VersionInUse;
  /** Ids of rows that could not be embedded. */
  failed: Set<string>;
}

/** Works in rounds, because rows may be edited or locked meanwhile. Returns false after a round without progress. */
async function fill(filling: Filling): Promise<boolean> {
  const { context, options, report, version } = filling;
  let isMoving = true;
  report.remaining = await countLacking(context, version);
  while (isMoving && report.remaining > report.failed && options.signal?.aborted !== true) {
    const before = report.embedded;
    const total = before + report.remaining;
    for (const type of memoryTypes) await fillType(filling, type, total);
    isMoving = report.embedded > before;
    report.remaining = await countLacking(context, version);
  }
  return isMoving;
}

/** Writes the vectors of one batch while the model embeds the next. */
async function fillType(filling: Filling, type: MemoryType, total: number): Promise<void> {
  const { context, options, report, version } = filling;
  let writing: Promise<number> = Promise.resolve(0);
  const finishWriting = async (): Promise<void> => {
    report.embedded += await writing;
    writing = Promise.resolve(0);
    options.progress?.(report.embedded, Math.max(total, report.embedded));
  };
  for await (const rows of readBatches(filling, type)) {
    const wanted = rows.filter(({ id }) => !filling.failed.has(id));
    const vectors = await embedReadable(filling, type, wanted).catch(async (error: unknown) => {
      await finishWriting();
      throw error;
    });
    await finishWriting();
    writing = writeBatch(context, type, version, vectors);
    // Awaited in the next turn: until then an unhandled rejection would end the process.
    writing.catch(() => undefined);
  }
  await finishWriting();
}

async function* readBatches({ context, options, version }: Filling, type: MemoryType): AsyncGenerator<RowToEmbed[]> {
  let after = firstId;
  while (options.signal?.aborted !== true) {
    const rows = await listRowsToEmbed(context.db.client, type, version, after, rowsPerBatch);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}

type EmbeddedRow = RowToEmbed & Pick<NewEmbedding, 'vector' | 'tokens'>;

/** Passes over rows that cannot be embedded, unless the model embeds nothing at all. */
async function embedReadable(filling: Filling, type: MemoryType, rows: RowToEmbed[]): Promise<EmbeddedRow[]> {
  const { context, failed, report } = filling;
  return inHalves(
    rows,
    (some) => embedRows(context, type, some),
    async ({ id }, error) => {
      await requireModel(context, error);
      context.logger.error({ err: error, type, id }, 'a memory could not be embedded, and was passed over');
      failed.add(id);
      report.failed = failed.size;
    },
  );
}

/** Embeds the same text by the same call as a write does. */
async function embedRows(
  { embedder }: MemoryContext,
  type: MemoryType,
  rows: readonly RowToEmbed[],
): Promise<EmbeddedRow[]> {
  const embeddings = await embedder.embed(rows.map((row) => textOf(type, row)));
  return rows.map((row, index) => {
    const { vector, tokens } = embeddings[index] as Embedding;
    return { ...row, vector, tokens: tokens === null ? null : packSigns(tokens) };
  });
}

/** Writes nothing once the version is retired: its slot may hold another version by then. */
async function writeBatch(
  context: MemoryContext,
  type: MemoryType,
  version: VersionInUse,
  rows: readonly EmbeddedRow[],
): Promise<number> {
  return context.db.transaction(async (transaction) => {
    const versions = await lockVersions(context, transaction);
    if (!versions.some(({ id }) => id === version.id)) return 0;
    return fillVectors(transaction, type, version, rows);
  });
}

/**
 * Switches to the version if no row lacks its vector. Locks the versions exclusively, and writers share that lock until
 * they commit: each row is either counted here or written by a transaction that sees the new version active.
 */
async function activate(context: MemoryContext, { id }: VersionInUse, report: ReembedReport): Promise<void> {
  await context.db.transaction(async (transaction) => {
    const versions = await lockVersions(context, transaction, 'alone');
    const building = versions.find((version) => version.id === id && version.status === 'building');
    if (building === undefined) return;
    const { done, total } = await countVectors(transaction, building);
    report.remaining = total - done;
    if (report.remaining > report.failed) return;
    const active = findActive(versions);
    await activateVersion(context, transaction, { building, active });
    report.activated = 1;
    report.retired += active === undefined ? 0 : 1;
  });
}
