import { tag } from './tags.ts';

/** What a statement is to one that is known: the same again, its end or successor, perhaps that, or something else. */
export type Relation = 'repeats' | 'changes' | 'perhaps changes' | 'unrelated';

/** A sentence as it is compared. */
export interface Topic {
  readonly subject: string;
  readonly content: string;
  /** All words that carry meaning, by their stems. */
  readonly words: ReadonlySet<string>;
  /** Nouns and names, without those of its subject and without values. */
  readonly nouns: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
  readonly isNegative: boolean;
  readonly isEnded: boolean;
}

const stopWords = new Set(
  'a an the of in on at to for from by with and or but is are was were be been being has have had do does did will would can could must should may might not no never user users his her their its he she they it this that these those there as since until till about into over under after before when while who which also now still only just all any each every some more most other own same so than too very i me my we our you your one go goes going went take takes get gets got make makes come comes out instead again'.split(
    ' ',
  ),
);
const endings =
  /\b(?:no longer|any ?more|any longer|stopped|stops|gave up|gives up|given up|quit|sold|cancelled|canceled|abolished|ended|died|left|retired|moved out|pulled out|handed (?:in|back)|returned|got rid of|not .{0,60}after all|put off|called off|is off|fixed|repaired|solved|dropped|resigned|divorced|separated|stolen|nicked|lost|expired|closed)\b/i;
const negations =
  /\b(?:not|no|never|cannot|without|none|nothing|neither|hates|dislikes|avoids|refuses|un\p{L}{3,}ed)\b/iu;
const changing =
  /\b(?:now|moved|switched|changed|instead|rises|rose|raised|lowered|cut|as of|from \d|has become|became|took over|takes over|replaced|new|again|added|since)\b/i;
const pending =
  /\b(?:looking for|plans?|wants?|waiting|applying|considering|hopes|training for|saving for|is going to)\b/i;
const reached = /\b(?:starts?|started|got|found|began|begins|finished|bought|passed|arrived|moved in)\b/i;
const value =
  /^(?:\d.*|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december)$/i;

export function topicOf(subject: string, content: string, predicate: string | null): Topic {
  // Where the content is a whole sentence, the predicate only repeats its words.
  const isSentence = predicate === null || /^(?:the )?user\b/i.test(content);
  const tokens = tag(isSentence ? content : `${predicate.replaceAll('_', ' ')}: ${content}`);
  const own = new Set(
    subject
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .map(stem),
  );
  const words = new Set<string>();
  const nouns = new Set<string>();
  const values = new Set<string>();
  for (const { lower, pos } of tokens) {
    if (!/[\p{L}\p{N}]/u.test(lower) || stopWords.has(lower) || lower.startsWith("'")) continue;
    if (value.test(lower)) values.add(stem(lower));
    else {
      words.add(stem(lower));
      if (/^(?:NOUN|PROPN|X)$/.test(pos) && !own.has(stem(lower))) nouns.add(stem(lower));
    }
  }
  return {
    subject: subject.toLowerCase(),
    content,
    words,
    nouns,
    values,
    isNegative: negations.test(content),
    isEnded: endings.test(content),
  };
}

function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/(?:'s)$/, '')
    .replace(/ies$/, 'y')
    .replace(/(?:ings?|ed|es|s)$/, '')
    .replace(/(.)\1$/, '$1')
    .replace(/e$/, '');
}

/** Compares what is said with what is known. The cosine of their vectors is null where nobody computed it. */
export function relate(known: Topic, said: Topic, cosine: number | null): Relation {
  if (!isSameSubject(known, said)) return 'unrelated';
  const shared = common(known.words, said.words);
  const topics = common(known.nouns, said.nouns);
  const isFlipped = known.isNegative !== said.isNegative;
  const isConflict = hasConflict(known, said);
  if (!isConflict && !isFlipped && (!said.isEnded || known.isEnded) && isRepetition(known, said, shared, cosine))
    return 'repeats';
  if (said.isEnded && !known.isEnded)
    return judgeEnd(known, topics, known.subject !== said.subject && mentions(known, said.subject), cosine);
  if (topics === 0) return judgeWithoutTopic(known, said, isFlipped, cosine ?? 0);
  if (isFlipped) return isSubset(known.nouns, said.nouns) && (cosine ?? 1) >= 0.45 ? 'changes' : 'unrelated';
  return judgeSuccession(known, said, { topics, isConflict, cosine });
}

function judgeEnd(known: Topic, topics: number, isNamed: boolean, cosine: number | null): Relation {
  if (topics > 0 && (topics >= 2 || topics / known.nouns.size >= 0.5) && (cosine ?? 1) >= 0.4) return 'changes';
  if (isNamed && (cosine ?? 0) >= 0.6) return 'changes';
  return topics > 0 || (cosine ?? 0) >= 0.45 ? 'perhaps changes' : 'unrelated';
}

/** Cosine from which a statement with a word of change may replace one that shares a noun with it. */
const nearTopic = 0.4;
/** The same for two that name other days, times or numbers. */
const nearConflict = 0.5;
/** The same for two statements of one person that share no noun: "Ada teaches cello", "Ada teaches the viola". */
const nearStatement = 0.65;

function judgeWithoutTopic(known: Topic, said: Topic, isFlipped: boolean, cosine: number): Relation {
  if (isFlipped) return cosine >= 0.5 ? 'perhaps changes' : 'unrelated';
  const isOfPerson = known.subject === said.subject && known.subject !== 'user';
  return isOfPerson && cosine >= nearStatement && !isPast(known.content) ? 'perhaps changes' : 'unrelated';
}

function judgeSuccession(
  known: Topic,
  said: Topic,
  { topics, isConflict, cosine }: { topics: number; isConflict: boolean; cosine: number | null },
): Relation {
  if (isPast(known.content)) return 'unrelated';
  if (isConflict && isSubset(known.nouns, said.nouns)) return 'changes';
  if (pending.test(known.content) && reached.test(said.content) && topics / known.nouns.size >= 0.5) return 'changes';
  if (changing.test(said.content) && topics / Math.min(known.nouns.size, said.nouns.size) >= 0.5)
    return (cosine ?? 0) >= 0.6 ? 'changes' : 'perhaps changes';
  if (changing.test(said.content) && (cosine ?? 0) >= nearTopic) return 'perhaps changes';
  if (isConflict && (cosine ?? 0) >= nearConflict) return 'perhaps changes';
  return 'unrelated';
}

function isPast(content: string): boolean {
  return /^\S+ (?:\p{L}+ed|spent|was|were|went|had|met|grew)\b/u.test(content) || /\b(?:was|were|born)\b/.test(content);
}

function isRepetition(known: Topic, said: Topic, shared: number, cosine: number | null): boolean {
  for (const one of said.values) if (!known.values.has(one) && !/^20\d\d/.test(one)) return false;
  const back = said.words.size === 0 ? 0 : shared / said.words.size;
  const cover = known.words.size === 0 ? 0 : shared / known.words.size;
  const isOther = !isSubset(known.nouns, said.nouns) && changing.test(said.content);
  if (!isOther && ((back >= 0.75 && cover >= 0.5) || (back >= 0.6 && cover >= 0.6))) return true;
  if (back >= 0.99 || (back >= 0.6 && (cosine ?? 0) >= 0.7)) return true;
  return (cosine ?? 0) >= 0.82 && back >= 0.25;
}

/** Whether several that are known together say all of it: nothing of it is news. */
export function isCovered(known: readonly Topic[], said: Topic): boolean {
  const near = known.filter(
    (one) => isSameSubject(one, said) && one.isNegative === said.isNegative && common(one.words, said.words) > 0,
  );
  const has = (pick: (topic: Topic) => ReadonlySet<string>, word: string): boolean =>
    near.some((one) => pick(one).has(word));
  const words = [...said.words];
  const shared = words.filter((word) => has((one) => one.words, word)).length;
  const isWhole = [...said.values].every((one) => has(({ values }) => values, one));
  return words.length + said.values.size > 1 && isWhole && !said.isEnded && shared / words.length >= 0.8;
}

function isSameSubject(known: Topic, said: Topic): boolean {
  return known.subject === said.subject || mentions(known, said.subject) || mentions(said, known.subject);
}

function mentions({ content }: Topic, subject: string): boolean {
  return (
    subject !== 'user' && !subject.startsWith("user's") && subject !== 'note' && content.toLowerCase().includes(subject)
  );
}

/** Both name values of a kind, and others. */
function hasConflict(known: Topic, said: Topic): boolean {
  return [/^\d{1,2}:\d\d/, /day/, /^[\d.,]+$/].some((kind) => {
    const before = [...known.values].filter((one) => kind.test(one));
    const after = [...said.values].filter((one) => kind.test(one) && !/^20\d\d/.test(one));
    return before.length > 0 && after.length > 0 && !after.some((one) => before.includes(one));
  });
}

function common(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return [...one].filter((word) => other.has(word)).length;
}

function isSubset(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].every((word) => other.has(word)) || [...other].every((word) => one.has(word));
}
