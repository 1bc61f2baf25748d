import { languages, nationalities, occupations } from './words.ts';

/** Reads a value at the start of a text: what belongs to it, or null when it is not of the kind. */
export type ReadValue = (text: string) => string | null;

const word = String.raw`\p{Lu}[\p{L}\p{M}\p{N}'&.-]*`;
const particle = 'de|da|do|dos|das|del|della|di|la|le|las|los|van|von|der|den|of|upon|al|el|bin|ibn';
const proper = String.raw`(?:the )?${word}(?:(?: (?:${particle})){0,2},? ${word}){0,5}`;
const properName = new RegExp(String.raw`^${word}(?:(?: (?:${particle}))? ${word}){0,3}(?=$|[,;:!)]| \p{Ll})`, 'u');
const placeName = new RegExp(
  String.raw`^(?:an? (?:\p{Ll}[\p{Ll}-]* ){1,4}(?:in|near|outside|outside of|on) )?${proper}`,
  'u',
);
const dwelling =
  /^an? (?:\p{Ll}[\p{Ll}-]* ){0,3}(?:flat|apartment|house|village|town|city|farm|houseboat|studio|cottage)(?= |$|,)/u;

const notPlaces = /^(?:i|it|the moment|god|my|a (?:bubble|dream|world|mess))\b/i;
/** Capitalised by custom, and no names. */
const notNames =
  /^(?:i|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|christmas|easter|ok|okay|yes|no|not|sorry|thanks|please|sick|tired|the|a|an|in|on|at|my|your)\b/i;

export function readPlace(text: string): string | null {
  const found = (placeName.exec(text) ?? dwelling.exec(text))?.[0];
  return found === undefined || notPlaces.test(found) ? null : trimEnd(found);
}

export function readName(text: string): string | null {
  const found = /^(?:Dr|Mr|Mrs|Ms|Prof)\.? /.exec(text)?.[0] ?? '';
  const name = properName.exec(text.slice(found.length))?.[0];
  if (name === undefined || notNames.test(name) || isNationality(name)) return null;
  return trimEnd(found + name);
}

const institutions =
  'agency|association|authority|bakery|bank|bar|brewery|bureau|cafe|café|centre|center|charity|church|clinic|college|company|council|court|department|embassy|factory|farm|firm|foundation|gallery|garage|government|hospital|hotel|institute|kindergarten|lab|laboratory|law firm|library|ministry|museum|newspaper|office|pharmacy|practice|publisher|restaurant|school|shop|start-?up|store|studio|supermarket|theatre|theater|university|zoo';
const organisation = new RegExp(
  String.raw`^(?:(?:the|an?) (?:[\p{L}\p{N}'&-]+ ){0,4}(?:${institutions})(?= |$|,)|${proper})`,
  'u',
);

export function readOrganisation(text: string): string | null {
  const found = organisation.exec(text)?.[0];
  return found === undefined || notNames.test(found.replace(/^the /i, '')) ? null : trimEnd(found);
}

const occupation = new RegExp(
  String.raw`^(?:[\p{L}-]+ ){0,3}?(?:${occupations})(?=$|[,;]| (?:at|for|in|with|from|by|specialising|specializing)\b)`,
  'iu',
);
/** "a bad driver", "a great cook": praise and blame, no jobs. */
const notOccupations =
  /^(?:bad|good|great|terrible|lousy|horrible|decent|better|worse|real|such|bit|kind|big|huge|hopeless|would-be|wannabe|former|ex)\b/i;

export function readOccupation(text: string): string | null {
  const found = occupation.exec(text)?.[0];
  return found === undefined || notOccupations.test(found) ? null : found;
}

const language = new RegExp(
  `^(?:(?:a (?:little|bit of)(?: bit of)?|some|fluent|basic|good|both|native|conversational|broken) )?(?:${languages})$`,
  'i',
);

/** Languages, each without what is said of how well. */
export function readLanguage(text: string): string | null {
  const found = trimEnd(text.replace(/ (?:fluently|well|too|natively|at home)$/i, ''));
  return language.test(found) ? capitalise(found.split(' ').at(-1) ?? found) : null;
}

const nationality = new RegExp(`^(?:${nationalities})$`, 'i');

function isNationality(text: string): boolean {
  return nationality.test(text);
}

/** What ends a phrase: another thought begins. */
const turns =
  /(?:,? (?:because|since|so|but|which|who|whom|whose|where|when|whenever|while|although|though|except|until|as long as|as it|and (?:i|my|he|she|they|we|it|that|this|the user|user|then|so)|not|for example|especially|particularly|in general|by the way|thanks|thank you|please)\b|,? - | [–—] |[;:()]).*$/i;
const lateAdverbs =
  /,? (?:these days|at the moment|right now|for now|now|too|as well|a lot|very much|so much|the most|more than anything|best|again|anyway|in general|generally|though|already|myself|himself|herself)$/i;

const notPhrases =
  /^(?:it|its|that|this|these|those|them|him|her|his|you|your|us|our|me|my|i|he|she|they|we|what|how|when|where|who|why|which|if|one|ones|some|any|anything|something|nothing|everything|everyone|somebody|nobody|both|neither|either|all|none|more|less|much|many|most|enough|too|so|such|not|no|only|just|a lot|to (?:be|think|say|know|see|hear|believe|help|imagine)|being|having|the (?:first|second|third|last|next|other|new|old|one|idea|way|fact|look|sound|thought|same|latter|former|above|plan|hotel|movie|film|book|place|result|answer|suggestion|option))\b/i;
/** What points at something that was not said, or at somebody. */
const pointers = /\b(?:it|this|that|these|those|you|your|i|we|our|us|he|she|they|someone|here|there|mine|yours)\b/i;
const phraseWordLimit = 8;

/** A phrase that can be understood by itself. */
function readPhrase(text: string): string | null {
  let phrase = trimEnd(text.replace(turns, ''));
  for (let shorter = trimEnd(phrase.replace(lateAdverbs, '')); shorter !== phrase;) {
    phrase = shorter;
    shorter = trimEnd(phrase.replace(lateAdverbs, ''));
  }
  const words = phrase.split(' ');
  if (phrase === '' || words.length > phraseWordLimit || /["*_{}<>|\\]/.test(phrase)) return null;
  if (notPhrases.test(phrase) || pointers.test(phrase) || !/\p{L}/u.test(phrase)) return null;
  return phrase;
}

/** As a phrase, and no longer than a noun with a few words before it. */
export function readShortPhrase(text: string): string | null {
  const phrase = readPhrase(text);
  return phrase === null || phrase.split(' ').length > 5 ? null : phrase;
}

/** "a, b and c" as its parts; "black and white films" is one. */
export function splitList(text: string, { always }: { always: boolean }): string[] {
  const parts = text
    .split(/, and |, or |, | and | or |\/(?=\p{L})/u)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const isList = always || text.includes(',') || parts.every((part) => !part.includes(' '));
  return isList ? parts : [text];
}

/** The form in which a value stands in a predicate: ASCII where there is one, lower case, words joined. */
export function keyOf(value: string): string {
  return value
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^(?:the|an?|some|my|their) /, '')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, keyLimit)
    .replace(/^_+|_+$/g, '');
}

const keyLimit = 60;

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The last mark closes what another opened: "filed as '2026 Farys'". */
const endsQuotation = /(?:^|[\s(])(?<mark>['"])(?!\s)(?:(?!\k<mark>[\s,.;]).)*\k<mark>$/;

export function trimEnd(text: string): string {
  const bare = text.replace(/[\s.,;:!-]+$/, '');
  return endsQuotation.test(bare) ? bare : bare.replace(/[\s.,;:!'"-]+$/, '');
}
