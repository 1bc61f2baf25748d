import { splitPage, type PageRow } from '../../db/sql/page-with-total.ts';
import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import { timeline } from '../../db/sql/timeline.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { factValidities } from '../facts/fact-values.ts';
import { normaliseFilter, withValidity, type MemoryFilter } from '../filter.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memories.ts';
import { checkDate } from '../values.ts';

export interface TimelineEntry {
  /** When it happened or began to hold. */
  at: Date;
  memory: StoredRow;
}

export interface TimelineChoice {
  types?: readonly MemoryType[] | null | undefined;
  /** Retracted facts are left out unless asked for. */
  filter?: MemoryFilter | null | undefined;
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
  const { tenantId } = context.principal;
  if (from != null && to != null && to < from) throw invalidInput('to', 'not before from', to);
  const found = await context.db.client.$queryRaw<({ type: MemoryType; id: string; at: Date } & PageRow)[]>(
    timeline({
      ...page,
      tenantId,
      types: types == null || types.length === 0 ? memoryTypes : [...new Set(types)],
      filter: normaliseFilter(withValidity(filter, notRetracted)),
      from: checkDate('from', from),
      to: checkDate('to', to),
      now: context.now(),
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
