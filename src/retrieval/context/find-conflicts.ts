import { listOpenReviewsAmong } from '../../db/queries/reviews.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { handleOf } from '../../shared/handles.ts';
import type { Conflict } from './memory-lines.ts';
import type { ContextRanking } from './rank-context.ts';

/** The conflicts of facts, by the id of the fact. */
export type Conflicts = ReadonlyMap<string, readonly Conflict[]>;

/** Finds the facts of contexts that an open review compares with each other. One query for all contexts. */
export async function findConflicts({ db }: MemoryContext, rankings: readonly ContextRanking[]): Promise<Conflicts[]> {
  const facts = rankings.map(({ eligible }) =>
    eligible.flatMap(({ memory }) => (memory.type === 'fact' ? [memory.id] : [])),
  );
  const compared = [...new Set(facts.filter(({ length }) => length > 1).flat())];
  const reviews = compared.length === 0 ? [] : await listOpenReviewsAmong(db.client, compared);
  return facts.map((ids) => {
    const own = new Set(ids);
    const found = new Map<string, Conflict[]>();
    for (const { newerId, olderId } of reviews.filter((one) => own.has(one.newerId) && own.has(one.olderId))) {
      found.set(newerId, [...(found.get(newerId) ?? []), { isNewer: true, handle: handleOf(olderId) }]);
      found.set(olderId, [...(found.get(olderId) ?? []), { isNewer: false, handle: handleOf(newerId) }]);
    }
    return found;
  });
}
