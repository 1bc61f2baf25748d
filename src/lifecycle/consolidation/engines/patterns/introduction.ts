import type { Sentence } from './own-speech.ts';
import { userSubject, type Statement } from './statement.ts';
import { isCommonWord } from './tags.ts';
import { languages, nationalities } from './words.ts';

const name = String.raw`(?<name>\p{Lu}[\p{L}'-]+(?: (?:(?:de|van|von|der|da|dos) )*\p{Lu}[\p{L}'-]+){0,3})`;

/** As a butler tells of it: "The user, Ana Reis, …", "Tomas introduced himself", "First session. Marit Haugland, 58, …". */
const reported: readonly RegExp[] = [
  new RegExp(
    `\\b[Tt]he user(?:, | is (?:called |named )?| introduced (?:him|her|them)self as | \\()${name}(?=,|\\.|\\)|:| and\\b)`,
    'u',
  ),
  new RegExp(`^(?:[^.:]{3,30}: )?${name} introduced (?:him|her|them)self\\b`, 'u'),
];
const firstSession = /\b(?:first|intro\w*|new) (?:session|talk|meeting|conversation|call|user|client)\b/i;
const withAge = new RegExp(`^${name}, (?:\\d\\d|\\p{L}+ty(?:-\\p{L}+)?|\\p{L}+teen)\\b`, 'u');
/** As the user says it: "I'm Parvaneh, by the way", "My name is Ana Reis." */
const spoken = new RegExp(`\\b(?:I'm|I am|[Mm]y name is|[Mm]y name's) ${name}(?= now\\b|[,.!]| and\\b|$)`, 'u');
const noNames = new RegExp(`^(?:${languages}|${nationalities})$`, 'i');

/** Notes that begin with a whole name and an age are about the one whom the butler serves, as long as nobody else is. */
const opening = new RegExp(
  `^${name}, (?:\\d\\d|\\p{L}+ty(?:-\\p{L}+)?|\\p{L}+teen),? (?!is (?:my|our|her|his|their|the)\\b)`,
  'u',
);
const met = new RegExp(`^(?:Today,? )?I (?:first )?met ${name}(?=,|\\.| for the first time| and )`, 'u');

/** Returns the name of the person whom the first sentence presents to a butler that does not know the user yet. */
export function presentedBy({ text, voice, quote }: Sentence, content: string, isTelling: boolean): string | null {
  if (voice !== 'narrator' || !content.startsWith(quote) || /\buser\b/i.test(content)) return null;
  const found = (opening.exec(text) ?? (isTelling ? met.exec(text) : null))?.groups?.['name'] ?? null;
  return found !== null && / /.test(found) ? found : null;
}

/** The name by which a sentence introduces the person whom the butler serves; null where it introduces nobody. */
export function introducedBy({ text, voice }: Sentence, content: string): string | null {
  const isFirstSession = firstSession.test(content.slice(0, 80));
  const forms = voice === 'user' ? [spoken] : isFirstSession ? [...reported, withAge] : [...reported, spoken];
  const found = forms.map((form) => form.exec(text)?.groups?.['name']).find((one) => one !== undefined);
  if (found === undefined || voice === 'butler') return null;
  return isCommonWord(found) || noNames.test(found) ? null : found;
}

/** The whole name and its parts. */
export function partsOfName(whole: string): string[] {
  return [whole, ...whole.split(' ').filter((part) => /^\p{Lu}/u.test(part))];
}

/** The names that a statement gives the user. */
export function namesOf(statement: Statement): string[] {
  const isName =
    statement.says === 'fact' &&
    statement.subject === userSubject &&
    /^(?:preferred_)?name$/.test(statement.predicate ?? '');
  return isName ? partsOfName(statement.value) : [];
}
