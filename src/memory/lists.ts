import {
  countMemories,
  listMemoryIds,
  memoryOrders,
  type ListedId,
  type ListPage,
  type ListPosition,
  type ListQuery,
  type MemoryOrder,
} from '../db/sql/list-memories.ts';
import type { MemoryFilter } from '../db/sql/memory-filter.ts';
import type { MemoryType } from '../db/sql/memory-snapshot.ts';
import { invalidInput } from '../errors.ts';
import type { MemoryContext } from './context.ts';
import { liveValidities } from './facts.ts';
import { loadMemories, referenceKey, type MemoryRow } from './memories.ts';
import { normaliseFilter } from './filter.ts';
import { checkUuid } from './values.ts';

export interface ListChoice {
  type: MemoryType;
  filter?: MemoryFilter | null | undefined;
  order?: MemoryOrder | null | undefined;
  descending?: boolean | null | undefined;
}

export interface Listed {
  row: MemoryRow;
  cursor: string;
}

const ordersOfType: Record<MemoryType, readonly MemoryOrder[]> = {
  episode: memoryOrders.filter((order) => order !== 'confidence' && order !== 'effectiveness'),
  fact: memoryOrders.filter((order) => order !== 'effectiveness'),
  rule: memoryOrders,
};

/** Live memories unless the filter names validities. Cursors are opaque to callers; a list cannot be entered in the middle of another order. */
export async function listMemories(
  context: MemoryContext,
  choice: ListChoice,
  page: Omit<ListPage, 'after' | 'before'> & { after?: string | null | undefined; before?: string | null | undefined },
): Promise<Listed[]> {
  const { tenantId } = context.principal;
  const query = queryOf(context, choice);
  const positions = { after: readCursor(page.after, query), before: readCursor(page.before, query) };
  const ids = await context.db.tenant(tenantId).$queryRaw<ListedId[]>(listMemoryIds(query, { ...page, ...positions }));
  const references = ids.map(({ id }) => ({ type: choice.type, id }));
  const rows = await loadMemories(context, references);
  return ids.flatMap(({ id, value }) => {
    const row = rows.get(referenceKey({ type: choice.type, id }));
    return row === undefined ? [] : [{ row, cursor: writeCursor(query, { id, value }) }];
  });
}

export async function countList(context: MemoryContext, choice: ListChoice): Promise<number> {
  const { tenantId } = context.principal;
  const [row] = await context.db
    .tenant(tenantId)
    .$queryRaw<{ count: number }[]>(countMemories(queryOf(context, choice)));
  return row?.count ?? 0;
}

function queryOf(context: MemoryContext, { type, filter, order, descending }: ListChoice): ListQuery {
  const chosen = order ?? 'createdAt';
  if (!ordersOfType[type].includes(chosen)) {
    throw invalidInput('order', `one of ${ordersOfType[type].join(', ')} for a list of ${type}s`, chosen);
  }
  return {
    tenantId: context.principal.tenantId,
    type,
    filter: normaliseFilter({ ...filter, validity: filter?.validity ?? liveValidities }),
    order: chosen,
    descending: descending ?? true,
    now: context.now(),
  };
}

function writeCursor({ order }: ListQuery, { value, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([order, value, id])).toString('base64url');
}

function readCursor(cursor: string | null | undefined, { order }: ListQuery): ListPosition | null {
  if (cursor === null || cursor === undefined) return null;
  const allowed = `a cursor of a list by ${order}`;
  try {
    const [given, value, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (given === order && typeof value === 'string' && value.length < 64 && typeof id === 'string') {
      return { value, id: checkUuid('cursor', id) };
    }
  } catch {
    throw invalidInput('cursor', allowed, cursor);
  }
  throw invalidInput('cursor', allowed, cursor);
}
