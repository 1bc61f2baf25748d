import type { FactToStore, Question } from './memories.ts';

interface Update {
  subject: string;
  predicate: string;
  before: string;
  after: string;
  question: string;
}

const updates: Update[] = [
  {
    subject: 'front gate',
    predicate: 'code',
    before: 'the front gate opens with 4418',
    after: 'the front gate opens with 9027',
    question: 'What is the code of the front gate?',
  },
  {
    subject: 'internet',
    predicate: 'provider',
    before: 'the house is connected by Northline cable',
    after: 'the house is connected by Beacon fibre',
    question: 'Which company provides our internet connection?',
  },
  {
    subject: 'gardener',
    predicate: 'visiting day',
    before: 'the gardener comes every Tuesday',
    after: 'the gardener comes every Friday',
    question: 'On which weekday does the gardener come?',
  },
  {
    subject: 'boiler',
    predicate: 'temperature',
    before: 'the boiler is set to 62 degrees',
    after: 'the boiler is set to 55 degrees',
    question: 'To how many degrees is the boiler set?',
  },
  {
    subject: 'spare key',
    predicate: 'place',
    before: 'the spare key hangs in the shed',
    after: 'the spare key is with the neighbour Edda',
    question: 'Where is the spare key kept?',
  },
  {
    subject: 'wine cellar',
    predicate: 'keeper',
    before: 'Arno keeps the list of the wine cellar',
    after: 'Philippa keeps the list of the wine cellar',
    question: 'Who looks after the wine cellar?',
  },
  {
    subject: 'rubbish',
    predicate: 'collection',
    before: 'paper is collected in even weeks',
    after: 'paper is collected on the first Monday of a month',
    question: 'When is waste paper picked up?',
  },
  {
    subject: 'family doctor',
    predicate: 'name',
    before: 'our doctor is Dr Abel in Quay Road',
    after: 'our doctor is Dr Nasser in Castle Road',
    question: 'Who is the family physician?',
  },
  {
    subject: 'bank',
    predicate: 'main account',
    before: 'bills are paid from the account at Corner Bank',
    after: 'bills are paid from the account at Meridian Trust',
    question: 'From which bank do we pay bills?',
  },
  {
    subject: 'guest room',
    predicate: 'colour',
    before: 'the walls of the guest room are mustard yellow',
    after: 'the walls of the guest room are slate blue',
    question: 'What colour are the walls where guests sleep?',
  },
  {
    subject: 'newspaper',
    predicate: 'subscription',
    before: 'we subscribe to the Morning Courier on paper',
    after: 'we subscribe to the Harbour Gazette on screen',
    question: 'Which newspaper do we read?',
  },
  {
    subject: 'piano',
    predicate: 'tuner',
    before: 'the piano is tuned by Mr Halloran',
    after: 'the piano is tuned by Ms Petrescu',
    question: 'Who tunes the piano?',
  },
  {
    subject: 'alarm',
    predicate: 'arming time',
    before: 'the burglar alarm is armed at eleven at night',
    after: 'the burglar alarm is armed at half past nine at night',
    question: 'At what hour is the burglar alarm switched on?',
  },
  {
    subject: 'holiday house',
    predicate: 'owner',
    before: 'the holiday house belongs to the Brandt family',
    after: 'the holiday house was sold to a dentist',
    question: 'Who owns the holiday house now?',
  },
];

function keyOf({ subject, predicate }: Update, which: 'before' | 'after'): string {
  return `${subject}/${predicate}/${which}`;
}

/** Everything as it was, then everything as it is. */
export function factsWithUpdates(): FactToStore[] {
  return (['before', 'after'] as const).flatMap((which) =>
    updates.map((update): FactToStore => {
      const { subject, predicate } = update;
      return { type: 'fact', key: keyOf(update, which), subject, predicate, content: update[which] };
    }),
  );
}

export function questionsAboutUpdates(): Question[] {
  return updates.map((update): Question => {
    const { question: text } = update;
    return { kind: 'update', text, answers: [keyOf(update, 'after')], never: [keyOf(update, 'before')] };
  });
}

const scoped: [predicate: string, question: string, contents: Record<string, string>][] = [
  [
    'opening words',
    'With which words do I open a message?',
    {
      kitchen: 'messages open with "Dear cook"',
      travel: 'messages open with "Dear traveller"',
      health: 'messages open with "Good day"',
    },
  ],
  [
    'report day',
    'On which day is my report due?',
    {
      kitchen: 'the report is due on Saturday',
      travel: 'the report is due on Monday',
      health: 'the report is due on Wednesday',
    },
  ],
  [
    'spending limit',
    'How much money may I spend without asking?',
    {
      kitchen: 'may spend 80 without asking',
      travel: 'may spend 400 without asking',
      health: 'may spend 25 without asking',
    },
  ],
];

/** The same subject and predicate for each of three butlers. */
export function factsOfScopes(): FactToStore[] {
  return scoped.flatMap(([predicate, , contents]) =>
    Object.entries(contents).map(([scope, content]): FactToStore => {
      return { type: 'fact', key: `${scope}/${predicate}`, subject: 'this butler', predicate, content, scope };
    }),
  );
}

export function questionsOfScopes(): Question[] {
  return scoped.flatMap(([predicate, text, contents]) => {
    const scopes = Object.keys(contents);
    return scopes.map((scope): Question => {
      const others = scopes.filter((other) => other !== scope).map((other) => `${other}/${predicate}`);
      return { kind: 'own scope', text, scope, answers: [`${scope}/${predicate}`], never: others };
    });
  });
}
