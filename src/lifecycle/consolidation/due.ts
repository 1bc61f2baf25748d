import { areManyDue, countDueEpisodes } from '../../db/sql/due-episodes.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { dueFor } from './claim.ts';

export interface DueCount {
  butler: string;
  episodes: number;
}

/** What the next claims would take, by butler. */
export async function countDue(context: MemoryContext): Promise<DueCount[]> {
  return context.db.client.$queryRaw<DueCount[]>(countDueEpisodes(dueFor(context)));
}

/** Of all butlers together. */
export async function countWaiting(context: MemoryContext): Promise<number> {
  return (await countDue(context)).reduce((sum, { episodes }) => sum + episodes, 0);
}

/** Whether so many wait that they should not wait for the next scheduled run. */
export async function isBacklogLong(context: MemoryContext): Promise<boolean> {
  const { backlogEpisodes } = context.config.memory.consolidation;
  const statement = areManyDue(dueFor(context), backlogEpisodes);
  const [due] = await context.db.client.$queryRaw<{ many: boolean }[]>(statement);
  return due?.many ?? false;
}
