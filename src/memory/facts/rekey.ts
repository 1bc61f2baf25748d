import type { Database, Transaction } from '../../db/database.ts';
import { listFactsToRekey, listTenantsToRekey, updateKeys, type FactToRekey } from '../../db/queries/rekey.ts';
import type { MemoryContext } from '../context.ts';
import { createMutation } from '../mutation.ts';
import { holdsSeveral } from './fact-values.ts';
import { isNote } from './note-key.ts';
import { predicateKey, textForm } from './lexicon.ts';
import { replaceFact } from './replace-fact.ts';

/** Lists the tenants whose facts have the keys of another lexicon. */
export async function findTenantsToRekey(database: Database): Promise<string[]> {
  return listTenantsToRekey(database, textForm);
}

/**
 * Gives the facts of a tenant the keys that their predicates have now. Of two live facts that now share one, the newer
 * stays, and the older is superseded by it, which can be undone.
 */
export async function rekeyFacts(context: MemoryContext): Promise<number> {
  return context.db.transaction(async (transaction) => {
    const facts = await listFactsToRekey(transaction);
    const due = facts.filter((fact) => buildKey(fact) !== fact.predicateKey);
    // Those that are not live share a key freely.
    for (const fact of due.filter(({ isCurrent }) => !isCurrent)) await rekey(transaction, fact);
    const current = new Map(
      facts.filter((fact) => fact.isCurrent && !due.includes(fact)).map((fact) => [place(fact), fact]),
    );
    for (const fact of due.filter(({ isCurrent }) => isCurrent)) {
      const other = current.get(place(fact));
      if (other !== undefined && holdsSeveral(context, buildKey(fact))) {
        // Any key that no other fact has: values are compared by what they say.
        await rekey(transaction, { ...fact, valueKey: fact.id });
        continue;
      }
      if (other !== undefined) await supersedeOlder(context, transaction, fact, other);
      await rekey(transaction, fact);
      current.set(place(fact), other !== undefined && isNewer(other, fact) ? other : fact);
    }
    return due.length;
  });
}

function buildKey({ subject, predicate }: FactToRekey): string {
  return isNote({ subject, predicate }) ? predicate : predicateKey(predicate);
}

function place(fact: FactToRekey): string {
  return JSON.stringify([fact.scope, fact.subjectKey, buildKey(fact), fact.valueKey]);
}

function isNewer(one: FactToRekey, other: FactToRekey): boolean {
  return (
    one.createdAt > other.createdAt || (one.createdAt.getTime() === other.createdAt.getTime() && one.id > other.id)
  );
}

async function rekey(transaction: Transaction, fact: FactToRekey): Promise<void> {
  await updateKeys(transaction, fact.id, { predicateKey: buildKey(fact), valueKey: fact.valueKey });
}

async function supersedeOlder(
  context: MemoryContext,
  transaction: Transaction,
  one: FactToRekey,
  other: FactToRekey,
): Promise<void> {
  const [newer, older] = isNewer(one, other) ? [one, other] : [other, one];
  await replaceFact(createMutation(context, transaction), older, newer);
}
