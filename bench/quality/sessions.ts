import { createHash } from 'node:crypto';
import type { EpisodeToStore, Question, SessionToStore } from './memories.ts';

const butlers = ['kitchen', 'travel', 'health', 'finance'];
const sessionsPerButler = 6;
const millisecondsPerDay = 86_400_000;

/** Each goes over several sessions, one episode in each. */
const projects: [question: string, episodes: string[]][] = [
  [
    'How did the bathroom renovation proceed?',
    [
      'We chose sea-green tiles for the bathroom renovation',
      'The plumber found a cracked pipe under the bathroom floor',
      'Work on the bathroom stopped because the tub was delivered in the wrong size',
      'The bathroom is finished and the bill was a tenth above the estimate',
    ],
  ],
  [
    'What has been arranged for the wedding of Greta and Tomasz?',
    [
      'Greta wants the wedding in the botanical garden',
      'Tomasz will bake the wedding cake himself, four layers',
      'The wedding invitations went to sixty-two guests',
      'A brass quintet was hired for the wedding of Greta and Tomasz',
    ],
  ],
  [
    'What happened with the insurance claim for the flooded basement?',
    [
      'The basement was flooded to the third step and we called the insurance',
      'An assessor of the insurance photographed the flooded basement',
      'The insurance asked for receipts of everything that stood in the basement',
      'The insurance paid most of the claim for the basement, but not for the books',
    ],
  ],
  [
    'How is the knee of Samuel recovering?',
    [
      'Samuel twisted his knee on the lighthouse stairs',
      'The scan of the knee of Samuel showed a torn meniscus',
      'Samuel had his knee operated on and stayed two nights',
      'Samuel walked a mile without a stick; the knee holds',
    ],
  ],
  [
    'What do we know about the planned voyage to the Azores?',
    [
      'Marta proposed to sail to the Azores with friends',
      'A ketch with six berths was reserved for the Azores',
      'The crew for the Azores lacks someone who can cook',
      'The sailing trip to the Azores was put off until the hurricanes are over',
    ],
  ],
  [
    'How did Dev get on with learning to swim?',
    [
      'Dev was afraid to put his head under water at the swimming lesson',
      'Dev floated alone at swimming and was proud',
      'The swimming teacher moved Dev to the deep pool',
      'Dev passed his first swimming badge',
    ],
  ],
];

/** The same visitor again and again: only the time tells the visits apart. */
const visits: [question: string, episodes: [lastWeek: string, recent: string, earlier: string, longAgo: string]][] = [
  [
    'What did the chimney sweep find',
    [
      'The chimney sweep found a jackdaw nest in the flue',
      'The chimney sweep found the damper stuck',
      'The chimney sweep found nothing but a little soot',
      'The chimney sweep found a loose brick',
    ],
  ],
  [
    'What did the vet say about the greyhound',
    [
      'The vet said that the greyhound has put on weight',
      'The vet said that the greyhound needs a tooth pulled',
      'The vet said that the ears of the greyhound are clean',
      'The vet said that the greyhound should rest a paw',
    ],
  ],
  [
    'Which film did we watch at the cinema',
    [
      'At the cinema we watched the film about a beekeeper',
      'At the cinema we watched the silent film with live piano',
      'At the cinema we watched a film on deep sea divers',
      'At the cinema we watched the film of the circus fire',
    ],
  ],
  [
    'What was bought at the flea market',
    [
      'At the flea market we bought a brass lamp',
      'At the flea market we bought a box of records',
      'At the flea market we bought a rocking chair',
      'At the flea market we bought a map of the coast',
    ],
  ],
  [
    'Who came to dinner',
    [
      'Olga and her quintet came to dinner',
      'Lucia came to dinner straight from her shift',
      'Henrik and his daughter Alma came to dinner',
      'Two colleagues of Priya came to dinner',
    ],
  ],
];

const monthNames = Array.from({ length: 12 }, (_, month) =>
  new Date(Date.UTC(2026, month)).toLocaleString('en', { month: 'long', timeZone: 'UTC' }),
);

interface Moment {
  words: string;
  at: Date;
}

/** Four times that do not overlap, whatever day it is, and how one speaks of them. Weeks start on Monday. */
function momentsBefore(now: Date): Moment[] {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const sinceMonday = (now.getUTCDay() + 6) % 7;
  const inMonth = (back: number): Moment => {
    const at = new Date(Date.UTC(year, month - back, 12, 15));
    return { words: `in ${monthNames[at.getUTCMonth()]}`, at };
  };
  return [
    { words: 'last week', at: new Date(Date.UTC(year, month, now.getUTCDate() - sinceMonday - 4, 15)) },
    inMonth(2),
    inMonth(4),
    { words: `in ${year - 2}`, at: new Date(Date.UTC(year - 2, 5, 12, 15)) },
  ];
}

const people = [
  'Marta',
  'Jonas',
  'Ines',
  'Samuel',
  'Greta',
  'Tomasz',
  'Priya',
  'Dev',
  'Olga',
  'Felix',
  'Lucia',
  'Henrik',
];
const small = [
  'asked whether there is any mail',
  'wanted to know how warm it will be',
  'moved a meeting by an hour',
  'said thanks and wished a good night',
  'asked for the number of a taxi',
  'mentioned a headache and wanted the lights dimmed',
  'complained about noise from the street',
  'asked to be woken at seven',
  'looked for a pair of reading glasses',
  'wanted soup and then changed to a sandwich',
  'called from the station because a train was late',
  'asked for a reminder to buy stamps',
  'told a story about an old school friend',
];

/** Small talk, each text once: 12 people and 13 texts have no common divisor. */
function chatter(place: number): string {
  return `${people[place % people.length]} ${small[place % small.length]}`;
}

export function questionsAboutSessions(now: Date): Question[] {
  const overTime = projects.map(([text, episodes], project): Question => {
    return { kind: 'several sessions', text, answers: episodes.map((_, part) => `project/${project}/${part}`) };
  });
  const atTimes = visits.flatMap(([text], visit) =>
    momentsBefore(now).map(({ words }, moment): Question => {
      return { kind: 'time', text: `${text} ${words}?`, answers: [`visit/${visit}/${moment}`] };
    }),
  );
  return [...overTime, ...atTimes];
}

type Told = Pick<EpisodeToStore, 'key' | 'content'> & { at?: Date };

/** Projects and visits dealt out over the sessions, with small talk between them. */
export function sessionsOfHousehold(now: Date): SessionToStore[] {
  const count = butlers.length * sessionsPerButler;
  const told: Told[][] = Array.from({ length: count }, () => []);
  projects.forEach(([, episodes], project) =>
    episodes.forEach((content, part) => {
      told[(project + part * sessionsPerButler) % count]?.push({ key: `project/${project}/${part}`, content });
    }),
  );
  visits.forEach(([, episodes], visit) =>
    momentsBefore(now).forEach(({ at }, moment) => {
      const content = episodes[moment] ?? '';
      told[(visit * 5 + moment * 7) % count]?.push({ key: `visit/${visit}/${moment}`, content, at });
    }),
  );
  return told.map((episodes, place) => sessionOf(place, episodes, now));
}

function sessionOf(place: number, told: readonly Told[], now: Date): SessionToStore {
  const day = new Date(now.getTime() - (30 + place) * millisecondsPerDay);
  const talk = Array.from({ length: 5 }, (_, index): Told => {
    const number = place * 5 + index;
    return { key: `chatter/${number}`, content: chatter(number) };
  });
  const mixed = talk.flatMap((one, index) => [one, ...told.slice(index, index + 1)]);
  const episodes = mixed.map(({ key, content, at = day }): EpisodeToStore => {
    return { type: 'episode', key, butler: butlers[place % butlers.length] ?? '', content, observedAt: at };
  });
  return { sessionId: uuidOf(`session ${place}`), episodes };
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
