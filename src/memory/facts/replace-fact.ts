import type { Fact } from '../../generated/prisma/client.ts';
import { createLink } from '../links/links.ts';
import { changeMemory, type Mutation } from '../mutation.ts';

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

/** It was true until its successor became true, as far as that is known; never before it began. */
function endOfValidity(superseded: Pick<Fact, 'validFrom'>, { validFrom }: Pick<Fact, 'validFrom'>, now: Date): Date {
  const end = validFrom ?? now;
  return superseded.validFrom !== null && superseded.validFrom > end ? superseded.validFrom : end;
}
