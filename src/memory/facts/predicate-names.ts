import {
  compoundTable,
  currentThings,
  headsBeforeOf,
  informationNouns,
  loneVerbTable,
  numberedThings,
  ownedAttributes,
  pluralTable,
  roles,
  tokenTable,
  userThings,
  verbTable,
} from './predicate-spellings.ts';

/**
 * Brings the spellings of a predicate to one form: `homeCity`, "Home City" and `users_home_city` are `home_city`. Only words
 * that say nothing are dropped: `former_employer`, `work_phone` and `her_birthday` keep theirs. The rules are repeated until
 * nothing changes, so that the form of a form is itself.
 */
export function normalisePredicate(written: string): string {
  let words = splitName(written);
  for (let round = 0; round < mostRounds; round += 1) {
    const before = words.join('_');
    for (const rule of rules) words = rule(words);
    if (words.join('_') === before) break;
  }
  return words.join('_');
}

const mostRounds = 8;

type Rule = (words: string[]) => string[];
const rules: readonly Rule[] = [respell, dropPrefix, inflect, turnAround, dropSuffix];

function splitName(written: string): string[] {
  return written
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[’ʼ`´]/g, "'")
    .replace(/(\p{L})'s\b/giu, '$1')
    .replace(/'/g, '')
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function respell(written: string[]): string[] {
  const words = written.map((word) => tokenTable.get(word) ?? word);
  const joined = joinCompounds(respellLast(words));
  return joined.map((word, index) => (index < joined.length - 1 ? dropPossessive(word) : word));
}

/** The short forms that mean something else in other places: "no", "zip" and "cell". */
function respellLast(words: string[]): string[] {
  const [before, last] = [words.at(-2), words.at(-1)];
  const rest = words.slice(0, -1);
  if (last === 'no' && numberedThings.has(before ?? '')) return [...rest, 'number'];
  if (last === 'zip' && before !== undefined) return [...rest, 'postcode'];
  if (last === 'cell' && (before === undefined || whose.has(before))) return [...rest, 'mobile'];
  return words;
}

const whose = new Set(['work', 'home', 'private', 'personal', 'business']);

/** A possessive without its apostrophe: `wifes_birthday`. */
function dropPossessive(word: string): string {
  return word.endsWith('s') && word !== 'boss' && roles.has(word.slice(0, -1)) ? word.slice(0, -1) : word;
}

function joinCompounds(words: string[]): string[] {
  const joined: string[] = [];
  for (let start = 0; start < words.length;) {
    const pair = compoundTable.get(words.slice(start, start + 2).join('_'));
    const length = pair !== undefined && start + 1 < words.length ? 2 : 1;
    const word = words[start] ?? '';
    joined.push(...((length === 2 ? pair : compoundTable.get(word)) ?? word).split('_'));
    start += length;
  }
  return joined;
}

const prepositions = new Set('in at for with as on to by from near of until'.split(' '));
const questionWords = new Set(['where', 'what', 'who', 'when', 'how']);
const askedAbout = new Set(['the', 'user', 'i', 'they', 'he', 'she', 'we', 'you', 'does', 'do']);

/** To the third person, and only where a preposition tells a verb: past forms are former values, and stay. */
function inflect(words: string[]): string[] {
  const [first = '', second = ''] = words;
  if (words.length === 1) return [loneVerbTable.get(first) ?? first];
  if (prepositions.has(second)) return [verbTable.get(first) ?? first, ...words.slice(1)];
  if (words.length < 3 || !questionWords.has(first)) return words;
  const rest = words.slice(1).filter((word, index) => index >= 3 || !askedAbout.has(word));
  return rest.length === 0 ? words : [first, ...rest];
}

/** `date_of_birth` → `birth_date`. With other heads the turn changes the meaning: `mother_of`, `number_of`. */
function turnAround(words: string[]): string[] {
  const text = words.join('_');
  const aboutUser = /^(.+)_of_(?:the_)?users?$/.exec(text)?.[1];
  if (aboutUser !== undefined) return aboutUser.split('_');
  const [, head = '', rest = ''] = /^([^_]+)_of_(?:(?:the|my|a)_)?(.+)$/.exec(text) ?? [];
  return headsBeforeOf.has(head) ? [...rest.split('_'), head] : words;
}

const emptyPrefixes = new Set(['the', 'my', 'users', 'currently']);
const namingWords = new Set(['called', 'named', 'aged']);

function dropPrefix(words: string[]): string[] {
  if (words.length < 2) return words;
  const [first = '', second = ''] = words;
  const last = words.at(-1) ?? '';
  const saysNothing =
    emptyPrefixes.has(first) ||
    (first === 'current' && !currentThings.has(second)) ||
    (first === 'user' && !userThings.has(second)) ||
    // `has_car` often holds "yes", which must not replace the car.
    (first === 'has' && ownedAttributes.has(last)) ||
    (first === 'is' && (prepositions.has(last) || namingWords.has(second))) ||
    (first === 'was' && second === 'born');
  return saysNothing ? words.slice(1) : words;
}

function dropSuffix(words: string[]): string[] {
  const last = words.at(-1) ?? '';
  if (words.length > 1 && saysNothingAfter(words.slice(0, -1), last)) return words.slice(0, -1);
  return [...words.slice(0, -1), pluralTable.get(last) ?? last];
}

const suffixes: Readonly<Record<string, ReadonlySet<string>>> = {
  name: roles,
  info: informationNouns,
  information: informationNouns,
  details: informationNouns,
  number: new Set(['phone', 'mobile', 'fax', 'landline']),
  phone: new Set(['mobile']),
  address: new Set(['email']),
  date: new Set(['expiry', 'deadline', 'birthday', 'anniversary']),
};

function saysNothingAfter(rest: readonly string[], last: string): boolean {
  if (Object.hasOwn(suffixes, last) && suffixes[last]?.has(rest.at(-1) ?? '')) return true;
  return (
    last === 'name' && /(?:^|_)(?:(?:mother|father|brother|sister|son|daughter)_in_law|best_man)$/.test(rest.join('_'))
  );
}
