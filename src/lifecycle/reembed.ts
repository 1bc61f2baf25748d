import { memoryTypes, type MemoryType } from '../db/tables.ts';
import {
  clearVectors,
  countVectors,
  fillVectors,
  selectRowsToEmbed,
  type RowToEmbed,
  type VersionPlace,
} from '../db/sql/reembed-rows.ts';
import type { MemoryContext } from '../memory/context.ts';
import { requireModel } from '../memory/embed.ts';
import { textOf } from '../memory/embedded-text.ts';
import {
  activateVersion,
  describeModel,
  findActive,
  findVersionOf,
  isSameModel,
  lockVersions,
  registerVersion,
  retireVersion,
  type VersionInUse,
} from '../memory/embedding-versions.ts';
import { authorize } from '../memory/permissions.ts';
import type { SweepOptions } from './sweep.ts';

export interface ReembedOptions extends SweepOptions {
  /** When this process read its configuration; its own start when left out. */
  readonly configuredAt?: Date | undefined;
}

export type ReembedReport = {
  /** Rows that got a vector of the configured model. */
  embedded: number;
  /** Rows that still lack one: somebody held them, they cannot be embedded, or the sweep was told to stop. */
  remaining: number;
  /** Rows whose text the model could not embed. They are tried again by the next sweep, and keep no other back. */
  failed: number;
  /** Versions that became active, were retired, and vectors of retired ones that were cleared. */
  activated: number;
  retired: number;
  cleared: number;
};

const processStartedAt = new Date(performance.timeOrigin);

/**
 * Brings a tenant to the configured embedding model: every row gets its vector beside the old one, and when none lacks
 * it the version is switched. Until then search goes on with the old one. What a run has written stays, so the next one
 * goes on from there. Vectors of retired versions are cleared once no search can be using them any more.
 */
export async function sweepEmbeddings(context: MemoryContext, options: ReembedOptions): Promise<ReembedReport> {
  const report: ReembedReport = { embedded: 0, remaining: 0, failed: 0, activated: 0, retired: 0, cleared: 0 };
  const choice = await chooseTarget(context, options);
  if (choice !== null && options.dryRun) await foretell(context, choice, report);
  else if (choice !== null) await bringTo(context, options, choice, report);
  await clearRetired(context, options, report);
  return report;
}

interface Choice {
  /** The version of the configured model; undefined when it is not registered yet. */
  known: VersionInUse | undefined;
  /** What it takes the place of. */
  replaced: VersionInUse | undefined;
  /** Those that were being built when the configuration changed once more. */
  abandoned: VersionInUse[];
}

/** Null when this tenant is not to be touched. */
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
      'another process has moved on to another embedding model since this one started',
    );
    return null;
  }
  if (versions.length === 0 && (await readCounts(context, anywhere(context))).total === 0) return null;
  return choose(versions, context);
}

function choose(versions: readonly VersionInUse[], { embedder }: MemoryContext): Choice {
  const known = findVersionOf(versions, embedder.model);
  const abandoned = versions.filter((version) => version.status === 'building' && version !== known);
  return { known, abandoned, replaced: versions.find((version) => version.status === 'active' && version !== known) };
}

async function foretell(
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
    // Rows may come without the vector until the switch has the versions alone, and are counted there once more.
    if (version.status === 'building' && report.remaining <= report.failed) await activate(context, version, report);
  } while (isMoving && report.remaining > report.failed && options.signal?.aborted !== true);
}

/** Registers the configured model, in the slot of one that was abandoned if need be. */
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
 * The version that another process moved on to after this one was started: it has a newer configuration, and this one
 * must not undo its work.
 */
function findNewer(
  versions: readonly VersionInUse[],
  { embedder }: MemoryContext,
  configuredAt: Date,
): VersionInUse | undefined {
  return versions.find(({ status, createdAt, activatedAt, ...version }) => {
    if (isSameModel(version, embedder.model)) return false;
    if (status === 'building') return createdAt > configuredAt;
    // The first model of a tenant is active as soon as it is there: nobody moved on to it.
    return activatedAt !== null && activatedAt > createdAt && activatedAt > configuredAt;
  });
}

/** Of no version, where only the rows are counted. */
function anywhere({ principal }: MemoryContext): VersionPlace {
  return { tenantId: principal.tenantId, id: firstId, slot: 'primary' };
}

function placeOf({ principal }: TenantOf, { id, slot }: VersionInUse): VersionPlace {
  return { tenantId: principal.tenantId, id, slot };
}

async function countLacking(context: MemoryContext, version: VersionInUse | undefined): Promise<number> {
  const place = version === undefined ? anywhere(context) : placeOf(context, version);
  const { done, total } = await readCounts(context, place);
  return total - done;
}

type TenantOf = Pick<MemoryContext, 'db' | 'principal'>;

async function readCounts({ db }: TenantOf, place: VersionPlace): Promise<{ done: number; total: number }> {
  const [counts] = await db.client.$queryRaw<{ done: number; total: number }[]>(countVectors(place));
  return counts ?? { done: 0, total: 0 };
}

const firstId = '00000000-0000-0000-0000-000000000000';

/** As many as the model takes some seconds for at most: so much a crash costs. */
const rowsPerBatch = 64;

interface Filling {
  context: MemoryContext;
  options: ReembedOptions;
  report: ReembedReport;
  version: VersionInUse;
  /** Ids of rows that could not be embedded. */
  failed: Set<string>;
}

/** Round by round, since rows may be edited or held meanwhile. False after a round that got nowhere. */
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

/** The vectors of one batch are written while the model makes those of the next. */
async function fillType(filling: Filling, type: MemoryType, total: number): Promise<void> {
  const { context, options, report, version } = filling;
  let writing: Promise<number> = Promise.resolve(0);
  const finishWriting = async (): Promise<void> => {
    report.embedded += await writing;
    writing = Promise.resolve(0);
    options.progress?.(report.embedded, Math.max(total, report.embedded));
  };
  for await (const rows of batchesOf(filling, type)) {
    const wanted = rows.filter(({ id }) => !filling.failed.has(id));
    const vectors = await embedReadable(filling, type, wanted).catch(async (error: unknown) => {
      await finishWriting();
      throw error;
    });
    await finishWriting();
    writing = writeBatch(context, type, version, vectors);
    // Awaited in the next turn: until then nobody listens, and a rejection must not end the process.
    writing.catch(() => undefined);
  }
  await finishWriting();
}

async function* batchesOf({ context, options, version }: Filling, type: MemoryType): AsyncGenerator<RowToEmbed[]> {
  const place = placeOf(context, version);
  let after = firstId;
  while (options.signal?.aborted !== true) {
    const statement = selectRowsToEmbed(type, place, after, rowsPerBatch);
    const rows = await context.db.client.$queryRaw<RowToEmbed[]>(statement);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}

type EmbeddedRow = RowToEmbed & { vector: Float32Array };

/**
 * What fails together is tried again in halves, until the row that is to blame stands alone and is passed over. No row is
 * to blame for a model that embeds nothing.
 */
async function embedReadable(filling: Filling, type: MemoryType, rows: RowToEmbed[]): Promise<EmbeddedRow[]> {
  const { context, failed, report } = filling;
  const [only] = rows;
  if (only === undefined) return [];
  try {
    return await embedRows(context, type, rows);
  } catch (error) {
    if (rows.length > 1) {
      const middle = Math.ceil(rows.length / 2);
      const first = await embedReadable(filling, type, rows.slice(0, middle));
      return [...first, ...(await embedReadable(filling, type, rows.slice(middle)))];
    }
    await requireModel(context, error);
    context.logger.error({ err: error, type, id: only.id }, 'a memory could not be embedded, and was passed over');
    failed.add(only.id);
    report.failed = failed.size;
    return [];
  }
}

/** By the call that a write makes, of the text that a write gives. */
async function embedRows({ embedder }: MemoryContext, type: MemoryType, rows: RowToEmbed[]): Promise<EmbeddedRow[]> {
  const vectors = await embedder.embed(rows.map((row) => textOf(type, row)));
  return rows.map((row, index) => ({ ...row, vector: vectors[index] as Float32Array }));
}

/** Only while the version is in use: its slot may be another's by now. */
async function writeBatch(
  context: MemoryContext,
  type: MemoryType,
  version: VersionInUse,
  rows: readonly EmbeddedRow[],
): Promise<number> {
  return context.db.transaction(async (transaction) => {
    const versions = await lockVersions(context, transaction);
    if (!versions.some(({ id }) => id === version.id)) return 0;
    return transaction.$executeRaw(fillVectors(type, placeOf(context, version), rows));
  });
}

/**
 * Writers share the versions until they commit, so here none is under way: each row is either counted now or written by
 * somebody who sees the new version active. Should one lack the vector that can have it, nothing is switched.
 */
async function activate(context: MemoryContext, { id }: VersionInUse, report: ReembedReport): Promise<void> {
  await context.db.transaction(async (transaction) => {
    const versions = await lockVersions(context, transaction, 'alone');
    const building = versions.find((version) => version.id === id && version.status === 'building');
    if (building === undefined) return;
    const [counts] = await transaction.$queryRaw<{ done: number; total: number }[]>(
      countVectors(placeOf(context, building)),
    );
    report.remaining = (counts?.total ?? 0) - (counts?.done ?? 0);
    if (report.remaining > report.failed) return;
    const active = findActive(versions);
    await activateVersion(context, transaction, { building, active });
    report.activated = 1;
    report.retired += active === undefined ? 0 : 1;
  });
}

const rowsPerClearing = 500;

/** A search that began before the switch may still read the old vectors, for as long as a transaction may last. */
async function clearRetired(context: MemoryContext, options: ReembedOptions, report: ReembedReport): Promise<void> {
  const { db, now, config } = context;
  const unusedSince = new Date(now().getTime() - config.db.transactionTimeoutMs);
  const retired = await db.client.embeddingVersion.findMany({
    where: { status: 'retired', retiredAt: { lte: unusedSince } },
  });
  for (const version of retired as VersionInUse[]) {
    const { done } = await readCounts(context, placeOf(context, version));
    if (options.dryRun) report.cleared += done;
    else if (done > 0)
      for (const type of memoryTypes) report.cleared += await clearType(context, options, type, version);
  }
}

async function clearType(
  context: MemoryContext,
  options: ReembedOptions,
  type: MemoryType,
  version: VersionInUse,
): Promise<number> {
  let [after, cleared] = [firstId, 0];
  while (options.signal?.aborted !== true) {
    const statement = clearVectors(type, placeOf(context, version), after, rowsPerClearing);
    const rows = await context.db.client.$queryRaw<{ id: string }[]>(statement);
    if (rows.length === 0) break;
    cleared += rows.length;
    after = rows.reduce((last, { id }) => (id > last ? id : last), after);
  }
  return cleared;
}

export interface VersionProgress {
  version: VersionInUse;
  /** Rows that have its vector, and rows that there are. */
  done: number;
  total: number;
}

/** Every version that a tenant has or had, oldest first, with how many rows have its vectors. */
export async function listVersionProgress(context: MemoryContext): Promise<VersionProgress[]> {
  authorize(context, 'query embeddingVersions');
  const { tenantId } = context.principal;
  const versions = await context.db.client.embeddingVersion.findMany({
    where: { tenantId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const progress: VersionProgress[] = [];
  for (const version of versions as VersionInUse[]) progress.push(await readProgress(context, version));
  return progress;
}

export async function readProgress(context: TenantOf, version: VersionInUse): Promise<VersionProgress> {
  return { version, ...(await readCounts(context, placeOf(context, version))) };
}
