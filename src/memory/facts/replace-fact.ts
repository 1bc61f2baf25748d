import type { Fact } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../context.ts';
import { createLink } from '../links/links.ts';
import { changeMemory, type Mutation } from '../mutation.ts';
import { authorizeTarget } from '../permissions.ts';
import { onlyButlerOf } from '../reach.ts';

type FactInTime = Pick<Fact, 'id' | 'validFrom' | 'validTo'>;

/** Supersedes a live fact by another that is live already, whatever their keys. */
export async function replaceFact(mutation: Mutation, superseded: FactInTime, successor: FactInTime): Promise<void> {
  await changeMemory(mutation, { type: 'fact', id: superseded.id }, 'fact.superseded', {
    validity: 'superseded',
    supersededAt: mutation.now,
    validTo: superseded.validTo ?? endOfValidity(superseded, successor, mutation.now),
  });
  const source = { type: 'fact', id: successor.id } as const;
  const target = { type: 'fact', id: superseded.id } as const;
  await createLink(mutation.consequence, { source, target, relation: 'supersedes' });
}

/**
 * Throws when a butler replaces a fact by one of another scope and may not forget it: to all who do not see the new fact,
 * the old one is gone.
 */
export function authorizeReplacement(
  context: MemoryContext,
  superseded: Pick<Fact, 'id' | 'scope' | 'sourceButler'>,
  { scope }: Pick<Fact, 'scope'>,
): void {
  const own = onlyButlerOf(context);
  const isOwn = own === null || superseded.scope === own || superseded.sourceButler === own;
  authorizeTarget(context, 'mutation forgetMemory', {
    name: `${superseded.scope} fact ${superseded.id}, which one of the scope ${scope} would supersede`,
    isOwn: isOwn || superseded.scope === scope,
  });
}

/** It was true until its successor became true, as far as that is known; never before it began. */
function endOfValidity(superseded: Pick<Fact, 'validFrom'>, { validFrom }: Pick<Fact, 'validFrom'>, now: Date): Date {
  const end = validFrom ?? now;
  return superseded.validFrom !== null && superseded.validFrom > end ? superseded.validFrom : end;
}
