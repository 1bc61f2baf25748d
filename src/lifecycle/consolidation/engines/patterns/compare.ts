import {
  corrects,
  countCommon,
  hasConflict,
  isNested,
  isSameSubject,
  listValues,
  restates,
  type Topic,
} from './topic.ts';

/** How likely a statement changes or ends a known one, and how likely it only repeats it. */
export interface Likelihoods {
  readonly changes: number;
  readonly repeats: number;
}

const changing =
  /\b(?:now|moved|switched|changed|instead|rises|rose|raised|lowered|cut|as of|from \d|has become|became|took over|takes over|replaced|new|again|added|since)\b/i;
const pending =
  /\b(?:looking for|plans?|wants?|waiting|applying|considering|hopes|training for|saving for|is going to)\b/i;
const reached = /\b(?:starts?|started|got|found|began|begins|finished|bought|passed|arrived|moved in)\b/i;

/** Whether a sentence names the old value as wrong, or says what now holds of the very same thing. */
export function isPlainChange(known: Topic, said: Topic): boolean {
  return corrects(known, said) || restates(known, said);
}

const certain = 1;
const likely = 0.5;

/** Compares what is said with what is known by their words alone, for embedding models that the judge does not know. */
export function compareWords(known: Topic, said: Topic): Likelihoods {
  if (isPlainChange(known, said)) return { changes: certain, repeats: 0 };
  const isFlipped = known.isNegative !== said.isNegative;
  if (!hasConflict(known, said) && !isFlipped && (!said.isEnded || known.isEnded) && isRepetition(known, said))
    return { changes: 0, repeats: certain };
  return { changes: judgeChange(known, said, isFlipped), repeats: 0 };
}

function judgeChange(known: Topic, said: Topic, isFlipped: boolean): number {
  const topics = countCommon(known.nouns, said.nouns);
  if (topics === 0) return 0;
  if (said.isEnded && !known.isEnded) return topics >= 2 || topics / known.nouns.size >= 0.5 ? certain : likely;
  if (isFlipped) return isNested(known.nouns, said.nouns) ? certain : 0;
  if (isPast(known.content)) return 0;
  if (hasConflict(known, said) && isNested(known.nouns, said.nouns)) return certain;
  if (pending.test(known.content) && reached.test(said.content) && topics / known.nouns.size >= 0.5) return certain;
  return changing.test(said.content) && topics / Math.min(known.nouns.size, said.nouns.size) >= 0.5 ? likely : 0;
}

function isPast(content: string): boolean {
  return /^\S+ (?:\p{L}+ed|spent|was|were|went|had|met|grew)\b/u.test(content) || /\b(?:was|were|born)\b/.test(content);
}

function isRepetition(known: Topic, said: Topic): boolean {
  if (hasNewValue(known, said) || said.words.size === 0 || known.words.size === 0) return false;
  const shared = countCommon(known.words, said.words);
  const [back, cover] = [shared / said.words.size, shared / known.words.size];
  const isOther = !isNested(known.nouns, said.nouns) && changing.test(said.content);
  return back >= 0.99 || (!isOther && ((back >= 0.75 && cover >= 0.5) || (back >= 0.6 && cover >= 0.6)));
}

/** Whether a statement names a day, time or number that is not known; a year apart. */
function hasNewValue(known: Topic, said: Topic): boolean {
  const values = listValues(known);
  return [...listValues(said)].some((one) => !values.has(one) && !/ 20\d\d$/.test(one));
}

/** Whether several that are known together say all of it: nothing of it is news. */
export function isCovered(known: readonly Topic[], said: Topic): boolean {
  const near = known.filter(
    (one) => isSameSubject(one, said) && one.isNegative === said.isNegative && countCommon(one.words, said.words) > 0,
  );
  const [words, values] = [[...said.words], [...listValues(said)]];
  const shared = words.filter((word) => near.some((one) => one.words.has(word))).length;
  const isWhole = values.every((value) => near.some((one) => listValues(one).has(value)));
  return words.length + values.length > 1 && isWhole && !said.isEnded && shared / words.length >= 0.8;
}
