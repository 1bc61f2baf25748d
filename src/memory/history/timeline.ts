import { splitPage, type PageRow } from '../../db/sql/page-with-total.ts';
import type { MemoryType } from '../../db/tables.ts';
import { timeline } from '../../db/sql/timeline.ts';
import type { MemoryContext } from '../context.ts';
import { factValidities } from '../facts/fact-values.ts';
import { checkPeriod, completeFilter, type FilterInput } from '../filter.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memories.ts';

export interface TimelineEntry {
  /** When it happened or began to hold. */
  at: Date;
  memory: StoredRow;
}

export interface TimelineChoice {
  types?: readonly MemoryType[] | null | undefined;
  /** Retracted facts are left out unless asked for. */
  filter?: FilterInput | null | undefined;
  from?: Date | null | undefined;
  to?: Date | null | undefined;
}

const notRetracted = factValidities.filter((validity) => validity !== 'retracted');

/** Memories in the order of the world, not of their storing: superseded facts stand where they began to hold. */
export async function readTimeline(
  context: MemoryContext,
  { types, filter, from, to }: TimelineChoice,
  page: { offset: number; limit: number },
): Promise<{ entries: TimelineEntry[]; total: number }> {
  const found = await context.db.client.$queryRaw<({ type: MemoryType; id: string; at: Date } & PageRow)[]>(
    timeline({
      ...page,
      filter: completeFilter(context, { ...filter, types }, { validity: notRetracted, withDisabled: true }),
      ...checkPeriod({ from, to }),
    }),
  );
  const { rows, total } = splitPage(found);
  const memories = await loadMemories(context, rows);
  const entries = rows.flatMap(({ type, id, at }) => {
    const memory = memories.get(referenceKey({ type, id }));
    return memory === undefined ? [] : [{ at, memory }];
  });
  return { entries, total };
}
