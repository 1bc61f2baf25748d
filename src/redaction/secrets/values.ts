import { isLabel, labelOfName, type Label } from './labels.ts';

/**
 * How a value is tied to its label, from the surest to the least sure:
 * - `explicit`: in quotation marks, or after an equals sign;
 * - `colon`: after a colon or another sign that prose uses too;
 * - `sentence`: after a verb, as in "my password is …";
 * - `beside`: after nothing but a blank.
 */
export type Tie = 'explicit' | 'colon' | 'sentence' | 'beside';

export interface Candidate {
  readonly value: string;
  readonly tie: Tie;
  readonly isQuoted: boolean;
  /** What follows the value. */
  readonly rest: string;
}

export function isSecretValue({ kind, isAmbiguous, isEnglish }: Label, candidate: Candidate): boolean {
  const { value, tie, isQuoted, rest } = candidate;
  if (value.length < 4 || isPlaceholder(value) || (!isQuoted && isCode(value)) || isLabel(value)) return false;
  if (kind === 'pin') return /^\d{4,8}$/.test(value);
  if (kind === 'phrase') return isQuoted || (tie !== 'beside' && isPhrase(value));
  if (kind === 'key') return isAmbiguous ? isBareKey(candidate) : isKey(candidate);
  if (isAmbiguous && !isQuoted)
    return tie !== 'sentence' && looksMade(value) && /\p{L}/u.test(value) && !isMeasure(value);
  if (tie === 'beside') return isQuoted || (looksMade(value) && isMixed(value) && !isMeasure(value));
  if (tie === 'explicit') return true;
  if (/^\d+$/.test(value)) return true;
  if (looksMade(value) && !isMeasure(value)) return true;
  if (tie === 'colon') return !isStopWord(value) && /^[)\]}.,; \t*_]{0,5}(?:\n|$)/.test(rest);
  return isEnglish && !isStopWord(value) && endsClause(rest);
}

/** Looks like a secret whatever stands before it. */
export function isStrongValue(value: string): boolean {
  return value.length >= 6 && looksMade(value) && isMixed(value) && !isMeasure(value) && !isPlaceholder(value);
}

function isPhrase(value: string): boolean {
  const [first = ''] = value.split(' ');
  return looksMade(first) || !isStopWord(first);
}

function isKey({ value, tie, isQuoted }: Candidate): boolean {
  if (/\s/.test(value) || value.length < 8) return false;
  if (tie === 'explicit') return looksMade(value) || (value.length >= 12 && !isStopWord(value));
  if (tie === 'beside') return isQuoted ? looksMade(value) : value.length >= 10 && isMixed(value) && isRandom(value);
  return /\d|[^\p{L}.!?…'’/-]/u.test(value) && !isMeasure(value) && (tie === 'colon' || isMixed(value));
}

/** After the word "key" alone, which names the entries of a map and the keys of a door too. */
function isBareKey({ value, tie }: Candidate): boolean {
  const shortest = tie === 'sentence' ? 20 : 12;
  return tie !== 'beside' && value.length >= shortest && isMixed(value) && isRandom(value);
}

/** No word of a language: a digit, a sign or a capital within it. */
function looksMade(value: string): boolean {
  return /\d|[^\p{L}\p{M}.!?…'’/-]|\p{L}[!?.]\p{L}|\p{Ll}\p{Lu}/u.test(value);
}

/** Letters with digits or with signs between them. */
export function isMixed(value: string): boolean {
  return /\p{L}/u.test(value) && (/\d/.test(value) || /\p{L}[!#$%&*@^~+=_]+\p{L}/u.test(value));
}

/** Digits in more than one place or beside letters of both cases, and not as `order-2026-17` or a UUID has them. */
function isRandom(value: string): boolean {
  const isId = value.split(/[-_.:/]/).every((part) => /^(?:\p{L}*|\d+)$/u.test(part));
  const isMadeUp = /\d\D+\d/.test(value) || (/\p{Ll}/u.test(value) && /\p{Lu}/u.test(value) && /\d{3}/.test(value));
  return isMadeUp && !isId && !/\s|^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(value);
}

/** `12-character`, `8th`, `sha256-hashed`, `base64`: a number with a word, which describes. */
function isMeasure(value: string): boolean {
  return (
    /^\d+(?:[.,]\d+)*(?:st|nd|rd|th|[a-z]{1,4}|[-+]?\p{L}*(?:-\p{L}+)*)$/iu.test(value) ||
    /^(?:base\d\d|sha-?\d+|md5|aes-?\d*|rsa-?\d*|utf-?\d+|oauth\d?|v\d+(?:\.\d+)*|x\d+|http\d?|1password)(?:-?\p{L}+)*$/iu.test(
      value,
    )
  );
}

/** What stands where a secret was, or will be, or is read from. */
export function isPlaceholder(value: string): boolean {
  return (
    /^(?:[<${%=([]|process\.env|os\.environ|[a-z][a-z0-9+.-]{1,20}:\/\/|\d{4}-\d{2}-\d{2}(?!\d))/i.test(value) ||
    /^(?:[*•x.#_…-]+|\d{1,3}(?:[.,]\d+)*%?|null|none|nil|true|false|undefined|required|optional|string|str|text|number|boolean|varchar|unset|empty|redacted|masked|hidden|n\/a|tbd|todo)$/i.test(
      value,
    ) ||
    /^redacted:|^(?:your|insert|enter|replace|put)[-_ ]/i.test(value) ||
    /^(?:~|\.{1,2}|[a-z]:)?[\\/][\w.-]+(?:[\\/][\w.-]+)+$/i.test(value) ||
    /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value)
  );
}

/** A call, or a field of something: `getToken(user)`, `config.password`. */
function isCode(value: string): boolean {
  return (
    /^[a-z_$][\w$]*(?:\.[\w$]+)*\(.*[)"'`]?/i.test(value) ||
    /^(?:this|self|import|process|os|vault|req|request|res|config|env|settings|options|opts|props|data|user|args|params|input|body|event|context|ctx|secrets?|vars?)(?:\??\.|\[)/i.test(
      value,
    )
  );
}

/** Whether a sentence may end before this, so that the word before it is what the sentence is about. */
function endsClause(rest: string): boolean {
  return /^["'”’)]{0,2}(?:[.,;!?…)]{0,3}(?:\s*$|\s*\n)|[.,;!?…]{1,3}\s|\s(?:for|and|but|if|so|please|thanks|thx|btw|ok|okay|lol|haha|on the|at the|by the way)(?![\p{L}\p{N}])|\s[-–—(:])/iu.test(
    rest,
  );
}

/** Words after "the password is" that say something about it. */
const stopWords = new Set(
  `a about above accepted accessible active actually again all allowed almost alphanumeric already also always an and any anna's
   anything anyway apparently as asked at available back bad based because before being below better between blank both
   broken but by can case-sensitive certain checked clear clearly cleared complex complicated compromised confidential
   confirmed correct correctly crucial current currently date dead default definitely different difficult disabled down due
   each easy either empty enabled encrypted enough enter essential even ever every everything everywhere exactly exposed
   expired expiring extremely false fine five for forgotten found four free from generated gone good great guessable half
   handled hard hardcoded hashed here hers hidden his how however if important impossible in inactive incorrect indeed
   inside insecure invalid irrelevant it its itself just kept key known last later leaked least less like likely linked
   locked long longer lost mandatory maybe me memorable mine missing more most much my myself necessary needed never new
   nice no nobody none nonsense not nothing now null obsolete obvious of off ok okay old on once one online only open
   optional or ours out outdated over own part patience pending perfect perhaps permanent personal posted present pretty
   previous printed private probably protected public quite random rather ready really rejected required reset reused
   right rotated safe same saved secret secure seen sensitive sent set several shared short should simple simply since
   six so some somebody someone something somewhere soon static still stolen stored strictly strong such super supposed
   temporary ten terrible that the their theirs them then there these they this those three tight to today together
   tomorrow too trivial true twelve twice two typed unavailable unchanged under unique unknown unlimited unnecessary
   unsafe unset until up updated urgent used useful useless usually valid very via visible weak well what whatever when
   where which why with within without working worthless written wrong yes yesterday yet your yours zero
   see ask forgot changed`.split(/\s+/),
);

function isStopWord(word = ''): boolean {
  const plain = word.toLowerCase().replace(/[.!?…,;:'’"]+$/, '');
  return stopWords.has(plain) || /(?:[a-z]{2}ed|[a-z]{2}ing|able|ible)$/.test(plain) || /^n['’]t$/.test(plain);
}

/** Whether a value under this name, in structured data, is a secret for its name alone. */
export function isSecretUnder(name: string, value: string): boolean {
  const label = labelOfName(name);
  return label !== null && isSecretValue(label, { value, tie: 'explicit', isQuoted: true, rest: '' });
}
