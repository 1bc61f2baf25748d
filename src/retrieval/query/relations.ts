import { predicateKey } from '../../memory/facts/lexicon.ts';

/** What people call those around them, by the predicate of a fact that says who it is. In the form of keys. */
const relationTable = `
wife: wife missus
husband: husband hubby
partner: partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse
mother: mother mum mom mam mummy mama
father: father dad daddy papa
son: son boy lad
daughter: daughter girl
child: child kid children kids eldest youngest
sister: sister
brother: brother
grandmother: grandmother grandma granny gran nan nana
grandfather: grandfather grandpa grandad granddad
mother_in_law: mother_in_law
father_in_law: father_in_law
sister_in_law: sister_in_law
brother_in_law: brother_in_law
aunt: aunt auntie
uncle: uncle
cousin: cousin
niece: niece
nephew: nephew
dog: dog puppy
cat: cat kitten
pet: pet
boss: boss manager line_manager
best_friend: best_friend closest_friend
neighbour: neighbour neighbor
`;

/** The relation that each word or phrase names. */
export const relationsByWord: ReadonlyMap<string, string> = new Map(
  relationTable
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [relation = '', words = ''] = line.split(': ');
      return words.split(' ').map((word): [string, string] => [word, relation]);
    }),
);

const spouses = ['wife', 'husband', 'partner', 'spouse', 'girlfriend', 'boyfriend', 'married_to', 'fiance', 'fiancee'];
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  wife: spouses,
  husband: spouses,
  partner: spouses,
  mother: ['mum', 'mom'],
  father: ['dad'],
  child: ['son', 'daughter', 'children'],
  pet: ['dog', 'cat'],
  boss: ['manager', 'line_manager'],
  neighbour: ['neighbor'],
};

/** Returns the keys of the predicates of facts that say who somebody of this relation is. */
export function listRelationPredicates(relation: string): string[] {
  return [...new Set([relation, ...(alsoCalled[relation] ?? [])].map(predicateKey))];
}
