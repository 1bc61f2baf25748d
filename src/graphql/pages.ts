import { readCursor, writeCursor } from '../memory/cursors.ts';
import { checkLimit } from '../memory/values.ts';
import { invalidInput } from '../shared/errors.ts';

export const pageLimit = 100;
const usualSize = 20;

interface PageArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  after?: string | null | undefined;
}

interface Page {
  offset: number;
  limit: number;
}

export function checkPageSize({ first, last }: PageArguments): void {
  for (const [field, given] of Object.entries({ first, last })) checkLimit(field, given, usualSize, pageLimit);
}

/** Reads a page by number, for lists that do not change while they are read. `list` names the list that cursors are of. */
export async function readPage(
  list: string,
  args: PageArguments,
  read: (page: Page) => Promise<{ items: unknown[]; total: number }>,
): Promise<object> {
  const { offset, limit } = choosePage(list, args);
  // One more than asked for tells whether there is a next page.
  const { items, total } = await read({ offset, limit: limit + 1 });
  const edges = items.slice(0, limit).map((node, index) => ({ node, cursor: writeCursor(list, [offset + index]) }));
  return {
    edges,
    pageInfo: {
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasPreviousPage: offset > 0,
      hasNextPage: items.length > limit,
    },
    // A page beyond the end has no row that could tell.
    total: total > 0 || offset === 0 ? total : (await read({ offset: 0, limit: 1 })).total,
  };
}

function choosePage(list: string, args: PageArguments): Page {
  checkPageSize(args);
  const { first, last } = args;
  const after = readCursor('after', list, args.after || null, parseOffset);
  const before = readCursor('before', list, args.before || null, parseOffset);
  const start = after === null ? 0 : after + 1;
  const isOpen = before === null && first == null;
  if (isOpen && last != null) throw invalidInput('last', 'given with before or first', last);
  const size = first ?? (last == null ? usualSize : Number.POSITIVE_INFINITY);
  const end = Math.max(start, Math.min(before ?? Number.POSITIVE_INFINITY, start + size));
  const offset = last == null ? start : Math.max(start, end - last);
  return { offset, limit: end - offset };
}

/** The database takes no offset beyond a bigint, and no list is as long as an integer. */
const mostOffset = 2 ** 31 - 1;

function parseOffset([offset]: unknown[]): number | null {
  return Number.isInteger(offset) && (offset as number) >= 0 && (offset as number) < mostOffset
    ? (offset as number)
    : null;
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- the type is what Pothos infers
export function totalCount(name: string, description: string) {
  return {
    name,
    description,
    // oxlint-disable-next-line typescript/no-explicit-any -- the field builder of a connection that Pothos has not named
    fields: (t: any) => ({
      totalCount: t.int({
        description: 'How many there are on all pages.',
        resolve: ({ total }: { total: number }) => total,
      }),
    }),
  };
}
