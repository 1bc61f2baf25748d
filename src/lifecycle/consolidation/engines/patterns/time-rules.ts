import { possessivesInThirdPerson, thirdPerson } from './grammar.ts';
import type { FactStatement } from './statement.ts';
import { keyOf, trimEnd } from './values.ts';
import { frequencies, futureTimes, habitVerbs } from './words.ts';

const future = new RegExp(`(?:^|[ ,])(?:${futureTimes})(?= |$|[,.])`, 'i');
const often = new RegExp(`(?:^|[ ,])(?:${frequencies})(?= |$|[,.])`, 'i');
const futurePrefix = new RegExp(`^(?<time>${futureTimes}),? (?<rest>.+)$`, 'i');
const oftenPrefix = new RegExp(`^(?<time>${frequencies}),? (?<rest>.+)$`, 'i');

const appointments =
  'appointment|interview|meeting|flight|exam|surgery|operation|check-?up|party|wedding|concert|reservation|trip|conference|deadline|viewing|session|lesson|presentation|hearing|scan|mri|blood test|driving test';
const planned = new RegExp(
  `^(?:is (?:going|flying|travelling|traveling|leaving|visiting|driving|moving|meeting|seeing|starting|returning|coming|taking|hosting|attending|running|giving|getting)|flies|leaves|travels|returns|arrives|moves|starts|visits|will (?!not\\b|be (?:able|back|there|here|fine|ok)\\b|call\\b|do\\b|check\\b|let\\b|think\\b|decide\\b|send\\b|confirm\\b|get\\b|see\\b|try\\b|ask\\b|tell\\b|know\\b|answer\\b|reply\\b|look\\b|write\\b|pay\\b)\\p{L}+|plans to \\p{L}+|has (?:got )?an? (?:[\\p{L}'-]+ ){0,4}(?:${appointments}))\\b`,
  'iu',
);
const habitForms = habitVerbs
  .split('|')
  .map((verb) => verb.replace(/^\S+/, (first) => (first.includes('[') ? 'practi[cs]es' : thirdPerson(first))))
  .join('|');
const habitual = new RegExp(
  `^(?<adverb>usually |normally |typically |regularly )?(?:always |generally )?(?:${habitForms})\\b`,
  'i',
);
/** What points at something that was not said. */
const pointers = /\b(?:it|this|that|these|those|you|your|i|we|us|he|she|they|someone|something|there|here)\b/i;
const wordLimit = 16;
/** Verbs without an object. */
const alone =
  /^(?:meditates|runs|swims|jogs|cycles|exercises|trains|skis|prays|journals|walks|volunteers|commutes|bakes|reads|fasts)$/;

/** "Next week I fly" as "I fly next week": the time of it at its end. */
export function timeLast(clause: string): string {
  const found = futurePrefix.exec(clause) ?? oftenPrefix.exec(clause);
  return found === null
    ? clause
    : `${trimEnd(found.groups?.['rest'] ?? '')} ${(found.groups?.['time'] ?? '').toLowerCase()}`;
}

export interface Doing {
  readonly subject: string;
  /** How the content names the subject. */
  readonly label: string;
  /** In the third person. */
  readonly verbPhrase: string;
  /** Day on which it was said: what "tomorrow" means. */
  readonly saidOn: string;
}

/** What somebody is going to do. */
export function readPlan({ subject, label, verbPhrase, saidOn }: Doing): FactStatement | null {
  if (!planned.test(verbPhrase) || !future.test(verbPhrase)) return null;
  const plan = understandable(verbPhrase, future);
  if (plan === null) return null;
  return {
    says: 'holds',
    subject,
    predicate: `plan_${plan.key}`,
    content: `${label} ${plan.text} (said on ${saidOn})`,
    permanence: 'volatile',
    importance: 6,
    opposite: null,
  };
}

/** What somebody does again and again. */
export function readHabit({ subject, label, verbPhrase }: Doing): FactStatement | null {
  const found = habitual.exec(verbPhrase);
  if (found === null || !(found.groups?.['adverb'] !== undefined || often.test(verbPhrase))) return null;
  const habit = understandable(verbPhrase, often);
  if (habit === null) return null;
  return {
    says: 'holds',
    subject,
    predicate: `habit_${habit.key}`,
    content: `${label} ${habit.text}`,
    permanence: 'standard',
    importance: 5,
    opposite: null,
  };
}

function understandable(verbPhrase: string, time: RegExp): { text: string; key: string } | null {
  const text = possessivesInThirdPerson(
    trimEnd(verbPhrase.replace(/,? (?:because|since|so|but|which|when|if) .*$/i, '')),
  );
  const deed = text.replace(time, ' ').replace(/^(?:usually|normally|typically|regularly|always) /, '');
  if (!time.test(text) && time === future) return null;
  const isEmpty = time === often && !deed.trim().includes(' ') && !alone.test(deed.trim());
  const isClear = !isEmpty && !pointers.test(deed) && text.split(' ').length <= wordLimit && !/["*_{}<>|\\]/.test(text);
  const key = keyOf(deed);
  return isClear && key !== '' ? { text, key } : null;
}
