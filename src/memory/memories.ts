import { listMemoryRows } from '../db/queries/memories.ts';
import { memoryTypes, type MemoryType } from '../db/tables.ts';
import type { StoredFact } from '../db/stored-fact.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Episode, Fact, Rule } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { maskFor } from './forgetting/hidden-spans.ts';
import type { MemoryReference } from './links/links.ts';
import { openRow } from '../encryption/sealing.ts';
import { findId } from './resolve-id.ts';

/** What the three types have in common: found, confirmed, forgotten and restored by type and id. */
export type Memory = { type: 'episode'; row: Episode } | { type: 'fact'; row: Fact } | { type: 'rule'; row: Rule };

/** Opened: a fact says what its writer gave. */
export type MemoryRow = Memory['row'];

/** As it is stored: a fact may be sealed, and `openRow` opens it. */
export type StoredRow = Episode | StoredFact | Rule;

/** By a column that only its table has. */
export function memoryTypeOf(row: MemoryRow | StoredRow): MemoryType {
  if ('predicate' in row) return 'fact';
  return 'maturity' in row ? 'rule' : 'episode';
}

/** Returns null when it is not there: unknown, of another tenant, or an episode past its time. */
export async function findMemory(context: MemoryContext, { type, id }: MemoryReference): Promise<Memory | null> {
  const found = await findId(context, 'id', id, type);
  return found === null ? null : findFirst(context, [{ type, id: found }]);
}

/** The same where only the id is known: no two memories share one, whatever their types. */
export async function findMemoryOfAnyType(context: MemoryContext, id: string): Promise<Memory | null> {
  const found = await findId(context, 'id', id);
  if (found === null) return null;
  return findFirst(
    context,
    memoryTypes.map((type) => ({ type, id: found })),
  );
}

async function findFirst(context: MemoryContext, references: readonly MemoryReference[]): Promise<Memory | null> {
  const [row] = (await loadMemories(context, references)).values();
  if (row === undefined || ('expiresAt' in row && row.expiresAt <= context.now())) return null;
  return asMemory(maskFor(context, await openRow(context, row)));
}

export function referenceKey({ type, id }: MemoryReference): string {
  return `${type}:${id}`;
}

export function asMemory(row: MemoryRow): Memory {
  return { type: memoryTypeOf(row), row } as Memory;
}

/** Several at once, under the key of each, whatever their state. One round trip. */
export async function loadMemories(
  context: Pick<MemoryContext, 'db'>,
  references: readonly MemoryReference[],
): Promise<Map<string, StoredRow>> {
  const [rows = new Map<string, StoredRow>()] = await loadMemoryLists(context, [references]);
  return rows;
}

/** Several lists at once. One round trip. */
export async function loadMemoryLists(
  { db }: Pick<MemoryContext, 'db'>,
  lists: readonly (readonly MemoryReference[])[],
): Promise<Map<string, StoredRow>[]> {
  const found = await listMemoryRows(db, lists);
  return found.map(
    (rows) => new Map(rows.map(({ type, row }) => [referenceKey({ type, id: row.id }), row as StoredRow])),
  );
}

export async function getMemory(context: MemoryContext, reference: MemoryReference): Promise<Memory> {
  const memory = await findMemory(context, reference);
  if (memory === null) throw notFound(reference);
  return memory;
}

export function notFound({ type, id }: MemoryReference): MemoryError {
  return new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
}
