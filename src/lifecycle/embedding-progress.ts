import { clearVectors, countVectors } from '../db/queries/reembed.ts';
import { memoryTypes, type MemoryType } from '../db/tables.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { VersionInUse } from '../memory/embedding-versions.ts';
import { authorize } from '../memory/permissions.ts';
import { firstId, type SweepOptions } from './sweep.ts';

export interface VersionProgress {
  version: VersionInUse;
  /** Rows that have a vector of the version, and all rows. */
  done: number;
  total: number;
}

/** Lists every version that a tenant has or had, oldest first, with how many rows have its vectors. */
export async function listVersionProgress(context: MemoryContext): Promise<VersionProgress[]> {
  authorize(context, 'query embeddingVersions');
  const { client } = context.db;
  const versions = await client.embeddingVersion.findMany({
    where: { tenantId: client.tenantId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const progress: VersionProgress[] = [];
  for (const version of versions as VersionInUse[]) progress.push(await readProgress(context, version));
  return progress;
}

export async function readProgress({ db }: Pick<MemoryContext, 'db'>, version: VersionInUse): Promise<VersionProgress> {
  return { version, ...(await countVectors(db.client, version)) };
}

/** No version: where only rows are counted. */
const noVersion = { id: firstId, slot: 'primary' } as const;

export async function countRows({ db }: MemoryContext): Promise<number> {
  return (await countVectors(db.client, noVersion)).total;
}

export async function countLacking({ db }: MemoryContext, version: VersionInUse | undefined): Promise<number> {
  const { done, total } = await countVectors(db.client, version ?? noVersion);
  return total - done;
}

const rowsPerClearing = 500;

/**
 * Clears the vectors of retired versions and returns how many. Waits for as long as a transaction may last: a search that
 * began before the switch may still read them.
 */
export async function clearRetired(context: MemoryContext, options: SweepOptions): Promise<number> {
  const { db, now, config } = context;
  const unusedSince = new Date(now().getTime() - config.db.transactionTimeoutMs);
  const where = { status: 'retired', retiredAt: { lte: unusedSince } };
  let cleared = 0;
  for (const version of (await db.client.embeddingVersion.findMany({ where })) as VersionInUse[]) {
    const { done } = await countVectors(db.client, version);
    if (options.dryRun) cleared += done;
    else if (done > 0) for (const type of memoryTypes) cleared += await clearType(context, options, type, version);
  }
  return cleared;
}

async function clearType(
  { db }: MemoryContext,
  options: SweepOptions,
  type: MemoryType,
  version: VersionInUse,
): Promise<number> {
  let cleared = 0;
  for (let after = firstId; options.signal?.aborted !== true;) {
    const ids = await clearVectors(db.client, type, version, { after, limit: rowsPerClearing });
    if (ids.length === 0) break;
    cleared += ids.length;
    after = ids.reduce((last, id) => (id > last ? id : last), after);
  }
  return cleared;
}
