import type { Permanence } from '../../../../memory/confidence.ts';

interface RelationKind {
  readonly nouns: string;
  readonly permanence: Permanence;
  /** One has several of them: the name belongs to the predicate, so that one does not take the place of another. */
  readonly isMany: boolean;
}

const kinds: readonly RelationKind[] = [
  { nouns: 'mother|mum|mom|father|dad', permanence: 'permanent', isMany: false },
  {
    nouns:
      'sister|brother|son|daughter|child|kid|baby|grandmother|grandma|grandfather|grandpa|grandson|granddaughter|aunt|uncle|cousin|nephew|niece|godmother|godfather|godson|goddaughter|stepson|stepdaughter|half-brother|half-sister|stepbrother|stepsister|twin',
    permanence: 'permanent',
    isMany: true,
  },
  {
    nouns:
      'wife|husband|partner|spouse|fiancé|fiancée|fiance|fiancee|girlfriend|boyfriend|best friend|mother-in-law|father-in-law',
    permanence: 'stable',
    isMany: false,
  },
  {
    nouns: 'friend|brother-in-law|sister-in-law|dog|cat|puppy|kitten|horse|rabbit|parrot|hamster|tortoise|turtle|bird',
    permanence: 'stable',
    isMany: true,
  },
  {
    nouns:
      'boss|manager|line manager|landlord|landlady|dentist|gp|accountant|therapist|personal trainer|hairdresser|barber|cleaner|nanny|gynaecologist|cardiologist|tax advisor|tax adviser',
    permanence: 'standard',
    isMany: false,
  },
  {
    nouns:
      'colleague|coworker|co-worker|doctor|neighbour|neighbor|lawyer|teacher|assistant|roommate|flatmate|housemate|client|babysitter|plumber|electrician|vet',
    permanence: 'standard',
    isMany: true,
  },
];

/** Longest first, so that "best friend" is not taken for "best" and a friend. */
export const relationNouns = kinds
  .flatMap(({ nouns }) => nouns.split('|'))
  .toSorted((a, b) => b.length - a.length)
  .join('|');

const aliases: Readonly<Record<string, string>> = {
  mum: 'mother',
  mom: 'mother',
  dad: 'father',
  grandma: 'grandmother',
  grandpa: 'grandfather',
  kid: 'child',
  'line manager': 'boss',
  manager: 'boss',
  neighbor: 'neighbour',
  coworker: 'colleague',
  'co-worker': 'colleague',
  puppy: 'dog',
  kitten: 'cat',
  'tax adviser': 'tax advisor',
};

export interface Relation {
  readonly noun: string;
  readonly permanence: Permanence;
  readonly isMany: boolean;
}

export function relationOf(written: string): Relation | null {
  const noun = written.toLowerCase();
  const kind = kinds.find(({ nouns }) => nouns.split('|').includes(noun));
  return kind === undefined ? null : { noun: aliases[noun] ?? noun, permanence: kind.permanence, isMany: kind.isMany };
}
