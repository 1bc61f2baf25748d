import { resolveOffsetConnection } from '@pothos/plugin-relay';
import { checkLimit } from '../memory/values.ts';

export const pageLimit = 100;

interface PageArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  after?: string | null | undefined;
}

/** Pages by number, for what does not change while it is read. */
export async function pageOf(
  args: PageArguments,
  read: (page: { offset: number; limit: number }) => Promise<{ items: unknown[]; total: number }>,
): Promise<unknown> {
  for (const field of ['first', 'last'] as const) checkLimit(field, args[field], 1, pageLimit);
  let total = 0;
  const connection = await resolveOffsetConnection({ args, defaultSize: 20, maxSize: pageLimit }, async (page) => {
    const found = await read(page);
    total = found.total > 0 || page.offset === 0 ? found.total : (await read({ offset: 0, limit: 1 })).total;
    return found.items;
  });
  return { ...connection, total };
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
