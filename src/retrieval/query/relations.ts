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
grandson: grandson
granddaughter: granddaughter
grandchild: grandchild grandchildren grandkid
stepson: stepson
stepdaughter: stepdaughter
stepmother: stepmother stepmum stepmom
stepfather: stepfather stepdad
godmother: godmother
godfather: godfather
godson: godson
goddaughter: goddaughter
twin: twin
dog: dog puppy
cat: cat kitten
horse: horse pony mare gelding stallion
rabbit: rabbit bunny
bird: bird parrot budgie canary
tortoise: tortoise turtle
pet: pet
boss: boss manager line_manager supervisor
best_friend: best_friend closest_friend
friend: friend
neighbour: neighbour neighbor
colleague: colleague coworker co_worker workmate
assistant: assistant secretary
apprentice: apprentice trainee intern
landlord: landlord landlady
tenant: tenant lodger subtenant
flatmate: flatmate housemate roommate
doctor: doctor gp family_doctor
dentist: dentist
vet: vet veterinarian
therapist: therapist psychologist psychotherapist counsellor
physiotherapist: physiotherapist physio physical_therapist
nurse: nurse carer caregiver
midwife: midwife
lawyer: lawyer solicitor attorney
notary: notary
accountant: accountant bookkeeper tax_adviser tax_advisor
cleaner: cleaner cleaning_lady housekeeper
gardener: gardener
childminder: childminder nanny babysitter au_pair
teacher: teacher tutor
coach: coach trainer personal_trainer
hairdresser: hairdresser barber stylist
plumber: plumber
electrician: electrician
mechanic: mechanic
builder: builder contractor
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

/** The words of each relation, as phrases. */
const wordsByRelation: ReadonlyMap<string, readonly string[]> = new Map(
  relationTable
    .trim()
    .split('\n')
    .map((line) => {
      const [relation = '', words = ''] = line.split(': ');
      return [relation, words.split(' ').map((word) => word.replaceAll('_', ' '))];
    }),
);

const spouses = ['wife', 'husband', 'partner', 'spouse', 'girlfriend', 'boyfriend', 'married_to', 'fiance', 'fiancee'];
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  wife: spouses,
  husband: spouses,
  partner: spouses,
  son: ['child'],
  daughter: ['child'],
  mother: ['mum', 'mom'],
  father: ['dad'],
  child: ['son', 'daughter', 'children'],
  pet: ['dog', 'cat', 'horse', 'rabbit', 'bird', 'tortoise'],
  grandchild: ['grandson', 'granddaughter'],
  boss: ['manager', 'line_manager'],
  neighbour: ['neighbor'],
};

/** Returns what texts call somebody of this relation: "husband" and "married to" as well as "wife". */
export function listRelationWords(relation: string): string[] {
  const relations = [relation, ...(alsoCalled[relation] ?? [])];
  const words = relations.flatMap((one) => wordsByRelation.get(one) ?? [one.replaceAll('_', ' ')]);
  return [...new Set(relations.includes('married_to') ? [...words, 'married to', 'engaged to'] : words)];
}

/** Returns the keys of the predicates of facts that say who somebody of this relation is. */
export function listRelationPredicates(relation: string): string[] {
  return [...new Set([relation, ...(alsoCalled[relation] ?? [])].map(predicateKey))];
}

/** The single words that relations are called by. */
export const relationWords: ReadonlySet<string> = new Set(
  [...wordsByRelation.values()].flat().filter((word) => !word.includes(' ')),
);
