import { listGlossWords } from '../facts/lexicon.ts';
import { isNote } from '../facts/note-key.ts';
import { splitSentences, type Sentence } from './sentences.ts';

/** A fact that does not hold any more, and what holds instead. */
export interface OutdatedFact {
  id: string;
  subject: string;
  predicate: string;
  content: string;
  /** What live facts of its key say, and what took its place. */
  current: readonly string[];
}

/** The words by which a sentence is recognised to say an outdated fact. */
export interface Signs {
  /** Words of the old value that the present one does not have. */
  telling: ReadonlySet<string>;
  /** The other words of the fact: its subject and predicate, what the predicate means, and the rest of its content. */
  topic: ReadonlySet<string>;
}

/** A fact whose words were read once, to be compared with many texts. */
export interface SignedFact extends OutdatedFact {
  signs: Signs;
  /** Of what holds instead. */
  currentSigns: Signs;
}

export function withSigns<Fact extends OutdatedFact>(fact: Fact): Fact & SignedFact {
  return { ...fact, signs: signsOf(fact), currentSigns: signsOf(asCurrent(fact)) };
}

/** A text whose words were read once, to be compared with many facts. */
export interface ReadText {
  words: ReadonlySet<string>;
  sentences: readonly { sentence: Sentence; words: ReadonlySet<string> }[];
}

export function readText(text: string): ReadText {
  const sentences = splitSentences(text).map((sentence) => ({ sentence, words: wordsOf(sentence.text) }));
  return { words: new Set(sentences.flatMap(({ words }) => [...words])), sentences };
}

/**
 * Returns the sentences of a text that say what a fact said. A sentence must have at least half of the words by which the
 * old value differs from the present one, and be about the same: another word of the fact, or a second one that differs.
 * A number alone is enough where another sentence of the text is about the same. What follows such a sentence and refers
 * to it goes with it: "Proceed with the order."
 */
export function findSayings({ words: all, sentences }: ReadText, { signs, currentSigns }: SignedFact): Sentence[] {
  const { telling, topic } = signs;
  if (!hasAny(all, telling)) return [];
  const isTextAbout = hasAny(all, topic);
  const found: Sentence[] = [];
  for (const { sentence, words } of sentences) {
    const isSaid = says(words, signs, isTextAbout);
    const isFollowing = found.length > 0 && (hasAny(words, topic) || refersBack.test(sentence.text));
    if (isSaid || (isFollowing && !says(words, currentSigns, isTextAbout))) found.push(sentence);
  }
  return found;
}

const refersBack = /\b(?:this|that|it)\b/iu;

/** What holds now, as if it were the outdated one: the words by which it is recognised. */
function asCurrent(fact: OutdatedFact): OutdatedFact {
  return { ...fact, content: fact.current.join(' '), current: [fact.content] };
}

/** Tells whether a text says what holds instead of a fact. */
export function saysCurrent(text: string, { signs, currentSigns, ...fact }: SignedFact): boolean {
  const current = { ...asCurrent(fact), signs: currentSigns, currentSigns: signs };
  return fact.current.length > 0 && findSayings(readText(text), current).length > 0;
}

/** A fact that holds, by the names of what it is about. */
export interface CurrentFact {
  subject: string;
  predicate: string;
  content: string;
}

/**
 * Returns the sentences of a text that give another date, day or number than a fact does. Only where the text gives that of
 * the fact, too: it then tells how it came to hold, and what else it gives is history.
 */
export function findFormerValues({ words: all, sentences }: ReadText, { values, names }: ValuedFact): Sentence[] {
  if (values.size === 0 || sentences.length < 2 || ![...values].every((value) => all.has(value))) return [];
  return sentences.flatMap(({ sentence, words }) => {
    const given = new Set([...words].filter(isValue));
    if (![...given].some((value) => !values.has(value)) || [...values].every((value) => given.has(value))) return [];
    const isAbout = hasAny(words, names) || refersBack.test(sentence.text) || past.test(sentence.text);
    return isAbout ? [sentence] : [];
  });
}

/** A fact whose date, day or number was read once, to be compared with many texts. */
export interface ValuedFact {
  values: ReadonlySet<string>;
  names: ReadonlySet<string>;
}

export function withValues<Fact extends CurrentFact>(fact: Fact): Fact & ValuedFact {
  const { subject, predicate, content } = fact;
  return { ...fact, values: new Set([...wordsOf(content)].filter(isValue)), names: wordsOf(`${subject} ${predicate}`) };
}

const past =
  /\b(?:original(?:ly)?|initial(?:ly)?|former(?:ly)?|previous(?:ly)?|at first|used to|no longer|was considered|instead)\b/iu;
const days = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ').map(stem);

/** Numbers and days of the week. */
function isValue(word: string): boolean {
  return /\d/u.test(word) || days.includes(word);
}

function says(words: ReadonlySet<string>, { telling, topic }: Signs, isTextAbout: boolean): boolean {
  const hits = [...telling].filter((word) => words.has(word));
  if (hits.length === 0 || hits.length < telling.size / 2 || givesOtherNumber(words, { telling, topic })) return false;
  return hits.length > 1 || hasAny(words, topic) || (isTextAbout && hits.some((word) => /\d/.test(word)));
}

/** A sentence with other numbers than the value is about another thing: the code of the next locker. */
function givesOtherNumber(words: ReadonlySet<string>, { telling, topic }: Signs): boolean {
  const given = [...words].filter((word) => isNumber(word) && !topic.has(word));
  const meant = [...telling].filter(isNumber);
  return given.length > 0 && meant.length > 0 && !given.some((word) => meant.includes(word));
}

function isNumber(word: string): boolean {
  return /\d/u.test(word);
}

function signsOf({ subject, predicate, content, current }: OutdatedFact): Signs {
  const value = wordsOf(content);
  const now = wordsOf(current.join(' '));
  const names = wordsOf(isNote({ subject, predicate }) ? subject : `${subject} ${predicate}`);
  names.delete('user');
  const gloss = wordsOf(listGlossWords(predicate).join(' '));
  const different = [...value].filter((word) => !now.has(word));
  const own = different.filter((word) => !names.has(word) && !gloss.has(word));
  const telling = new Set(own.length > 0 ? own : different);
  const topic = new Set([...names, ...gloss, ...value].filter((word) => !telling.has(word)));
  return { telling, topic };
}

function hasAny(words: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  return [...wanted].some((word) => words.has(word));
}

/** The content words of a text: stems, and numbers without the signs that group their digits. */
export function wordsOf(text: string): Set<string> {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<=\d)[,'’](?=\d{3}\b)/gu, '')
    .replace(/['’]s\b/gu, '');
  const words = plain.match(/\d+(?:[.:/]\d+)*|[\p{L}\p{M}]+/gu) ?? [];
  return new Set(words.filter((word) => !empty.has(word)).map(stem));
}

const empty: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been being but by can could did do does for from had has have he her his i if in into is it its ' +
    'just me my no not now of on or our she so than that the their them then there they this to up us very was we were ' +
    'what when which who will with would you your the s t m re ve ll d user about also am'
  ).split(' '),
);

/** Cuts the endings that a word has in another sentence of the same thing. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const cut = word.replace(/(?:ies|ied)$/u, 'y').replace(/(?<=[^s])s$|(?<=\p{L}{2})(?:ed|ing)$/u, '');
  return cut.replace(/e$/u, '');
}
