import type { Candidate } from '../../db/queries/candidate.ts';
import { memoryTypes } from '../../db/tables.ts';
import type { MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isForgotten, maskFor } from '../../memory/forgetting/hidden-spans.ts';
import { readStates } from '../../memory/history/history.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { loadMemoryLists, referenceKey, type Memory, type MemoryRow, type StoredRow } from '../../memory/memories.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { openReadable } from '../../encryption/sealing.ts';
import type { Ranked } from './ranked.ts';

export type LoadedMemory = Candidate & Memory;

/**
 * Loads the rows of what several searches found, each in the state that it searched. Leaves out what is gone meanwhile.
 * Hidden spans are masked, unless the caller does that.
 */
export async function loadRows(
  context: MemoryContext,
  searches: readonly { filter: MemoryFilter }[],
  ranked: readonly (readonly Ranked[])[],
  { isMasked = true }: { isMasked?: boolean } = {},
): Promise<Ranked<LoadedMemory>[][]> {
  const wanted = searches.map(({ filter }, place) => {
    return { filter, references: (ranked[place] ?? []).map(({ memory }) => memory) };
  });
  const rows = await loadStates(context, wanted, isMasked);
  return ranked.map((all, place) =>
    all.flatMap((one) => {
      const row = rows[place]?.get(referenceKey(one.memory));
      return row === undefined ? [] : [{ ...one, memory: { ...one.memory, row } as LoadedMemory }];
    }),
  );
}

export interface WantedRows {
  filter: MemoryFilter;
  references: readonly MemoryReference[];
}

/** Loads rows by key, each list in the state of its filter. One round trip for all lists of the present. */
export async function loadStates(
  context: MemoryContext,
  wanted: readonly WantedRows[],
  isMasked = true,
): Promise<Map<string, MemoryRow>[]> {
  const present = wanted.filter(({ filter }) => !filter.isPast);
  const lists = await loadMemoryLists(
    context,
    present.map(({ references }) => references),
  );
  const loaded = new Map<WantedRows, Map<string, MemoryRow>>();
  for (const [place, rows] of lists.entries()) {
    loaded.set(present[place] as WantedRows, await openRows(context, rows, isMasked));
  }
  return Promise.all(wanted.map(async (one) => loaded.get(one) ?? loadPast(context, one)));
}

/** Decrypts sealed facts. A fact that cannot be decrypted is left out. */
async function openRows(
  context: MemoryContext,
  stored: ReadonlyMap<string, StoredRow>,
  isMasked: boolean,
): Promise<Map<string, MemoryRow>> {
  const opened = new Map<string, MemoryRow>();
  for (const [key, row] of stored) {
    const [readable] = await openReadable(context, [row]);
    if (readable !== undefined) opened.set(key, isMasked ? maskFor(context, readable) : readable);
  }
  return opened;
}

async function loadPast(
  context: MemoryContext,
  { filter: { at }, references }: WantedRows,
): Promise<Map<string, MemoryRow>> {
  const rows = new Map<string, MemoryRow>();
  for (const type of memoryTypes) {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id);
    const past = ids.length === 0 ? [] : (await readStates(context, { type, at, ids, limit: ids.length })).rows;
    for (const row of past) {
      // No question of a butler finds what was forgotten since.
      if (onlyButlerOf(context) !== null && isForgotten(row)) continue;
      rows.set(referenceKey({ type, id: row.id }), row);
    }
  }
  return rows;
}
