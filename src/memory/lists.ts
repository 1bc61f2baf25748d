import {
  countMemories,
  listMemoryIds,
  memoryOrders,
  valueTypes,
  type ListPage,
  type ListPosition,
  type ListQuery,
  type MemoryOrder,
} from '../db/queries/list-memories.ts';
import type { MemoryType } from '../db/tables.ts';
import { readCursor, writeCursor } from './cursors.ts';
import { invalidInput } from '../shared/errors.ts';
import type { MemoryContext } from './context.ts';
import { loadMemories, referenceKey, type StoredRow } from './memories.ts';
import { completeFilter, type FilterInput } from './filter.ts';
import { checkDate, checkUuid } from './values.ts';

export interface ListChoice {
  type: MemoryType;
  filter?: FilterInput | null | undefined;
  order?: MemoryOrder | null | undefined;
  descending?: boolean | null | undefined;
}

export interface Listed {
  row: StoredRow;
  cursor: string;
}

const ordersOfType: Record<MemoryType, readonly MemoryOrder[]> = {
  episode: memoryOrders.filter((order) => order !== 'confidence' && order !== 'effectiveness'),
  fact: memoryOrders.filter((order) => order !== 'effectiveness'),
  rule: memoryOrders,
};

/** Live memories unless the filter names validities. A cursor is of one type and order. */
export async function listMemories(
  context: MemoryContext,
  choice: ListChoice,
  page: Omit<ListPage, 'after' | 'before'> & { after?: string | null | undefined; before?: string | null | undefined },
): Promise<Listed[]> {
  const fresh = buildQuery(context, choice);
  const [after = null, before = null] = [page.after, page.before].map((cursor) =>
    readCursor('cursor', nameList(fresh), cursor, (parts) => parsePosition(fresh.order, parts)),
  );
  const query = { ...fresh, orderedAt: (after ?? before)?.orderedAt ?? fresh.orderedAt };
  const ids = await listMemoryIds(context.db.client, query, { ...page, after, before });
  const references = ids.map(({ id }) => ({ type: choice.type, id }));
  const rows = await loadMemories(context, references);
  return ids.flatMap(({ id, value }) => {
    const row = rows.get(referenceKey({ type: choice.type, id }));
    return row === undefined ? [] : [{ row, cursor: writeCursor(nameList(query), [value, id, query.orderedAt]) }];
  });
}

export async function countList(context: MemoryContext, choice: ListChoice): Promise<number> {
  return countMemories(context.db.client, buildQuery(context, choice));
}

function buildQuery(context: MemoryContext, { type, filter, order, descending }: ListChoice): ListQuery {
  const chosen = order ?? 'createdAt';
  if (!ordersOfType[type].includes(chosen)) {
    throw invalidInput('order', `one of ${ordersOfType[type].join(', ')} for a list of ${type}s`, chosen);
  }
  return {
    type,
    filter: completeFilter(context, { ...filter, types: [type] }, { withDisabled: true }),
    order: chosen,
    descending: descending ?? true,
    orderedAt: context.now(),
  };
}

interface CursorPosition extends ListPosition {
  orderedAt: Date;
}

function nameList({ type, order }: ListQuery): string {
  return `a list of ${type}s by ${order}`;
}

function parsePosition(order: MemoryOrder, [value, id, at]: unknown[]): CursorPosition {
  return {
    value: checkValue(order, String(value)),
    id: checkUuid('cursor', String(id)),
    orderedAt: readDate(String(at)),
  };
}

/** A caller may have made it up, and the database must not stumble over it. */
function checkValue(order: MemoryOrder, value: string): string {
  if (valueTypes[order] === 'timestamptz') return value === '-infinity' ? value : readDate(value).toISOString();
  const number = Number(value);
  const isIn = valueTypes[order] === 'integer' ? Number.isInteger(number) && Math.abs(number) < 2 ** 31 : true;
  if (value.trim() === '' || !Number.isFinite(number) || !isIn) throw new RangeError(value);
  return String(number);
}

function readDate(text: string): Date {
  const date = new Date(text);
  checkDate('cursor', date);
  return date;
}
