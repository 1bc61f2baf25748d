import { selectMemoryRows } from '../../db/sql/memory-rows.ts';
import { memoryTypes } from '../../db/tables.ts';
import type { RowFilter } from '../../db/sql/search-filter.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { readStates } from '../../memory/history/history.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { memoriesByKey, referenceKey, type MemoryRow } from '../../memory/memories.ts';
import { openReadable } from '../../memory/sealing.ts';

export interface Found {
  filter: RowFilter;
  references: readonly MemoryReference[];
}

/** What several searches return, each in the state that it searched, under their keys. One round trip for the present. */
export async function loadFound(context: MemoryContext, found: readonly Found[]): Promise<Map<string, MemoryRow>[]> {
  const present = found.filter(({ filter, references }) => !filter.isPast && references.length > 0);
  const statements = present.map(({ filter, references }) => selectMemoryRows(filter.tenantId, references));
  const answers = statements.length === 0 ? [] : await context.db.roundTrip(statements);
  const loaded = new Map<Found, Map<string, MemoryRow>>();
  for (const [place, one] of present.entries()) loaded.set(one, await openAll(context, answers[place]));
  return Promise.all(found.map(async (one) => loaded.get(one) ?? loadPast(context, one)));
}

/** In plain. What cannot be read is not found. */
async function openAll(context: MemoryContext, answer: string | null | undefined): Promise<Map<string, MemoryRow>> {
  const memories = new Map<string, MemoryRow>();
  for (const [key, row] of memoriesByKey(answer)) {
    const [opened] = await openReadable(context, [row]);
    if (opened !== undefined) memories.set(key, opened);
  }
  return memories;
}

async function loadPast(
  context: MemoryContext,
  { filter: { at }, references }: Found,
): Promise<Map<string, MemoryRow>> {
  const rows = new Map<string, MemoryRow>();
  for (const type of memoryTypes) {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id);
    const past = ids.length === 0 ? [] : (await readStates(context, { type, at, ids, limit: ids.length })).rows;
    for (const row of past) rows.set(referenceKey({ type, id: row.id }), row);
  }
  return rows;
}
