import type { Alignment } from './word-vectors.ts';
import {
  areDisjoint,
  countCommon,
  hasConflict,
  listValues,
  valueKinds,
  withoutFirst,
  withoutNames,
  type Topic,
} from './topic.ts';

const changing =
  /\b(?:now|moved|switched|changed|instead|rises|rose|raised|lowered|cut|as of|from \d|has become|became|took over|takes over|replaced|new|again|added|since|these days|back)\b/i;
const adding = /\b(?:also|too|as well|another|besides|other|both|in addition)\b/i;
const pending =
  /\b(?:looking for|plans?|wants?|waiting|applying|considering|hopes|training for|saving for|is going to|intends|will)\b/i;
const reached = /\b(?:starts?|started|got|found|began|begins|finished|bought|passed|arrived|moved in)\b/i;
const past = /^\S+ (?:\p{L}+ed|spent|was|were|went|had|met|grew)\b|\b(?:was|were|born)\b/u;
const passing =
  /\b(?:this (?:week|month|morning|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|today|tonight|tomorrow|until|for (?:two|three|a) weeks?|next week|last week|stands in|while)\b/i;
const head = /^(?:User's|The|His|Her) (?<head>[\p{L}\p{N}' -]+?) (?:is|was|are|has|had|costs|will|\p{L}+s|\p{L}+ed)\b/u;

const lengthLimit = 20;

/** What a pair of sentences tells about their relation, beside their vectors. The order is that of the weights. */
export function featuresOfPair(known: Topic, said: Topic, aligned: Alignment): number[] {
  return [
    ...(Object.values(aligned) as number[]),
    ...compareDenied(known, said),
    bit(said.isCorrection),
    bit(said.isCorrection) * aligned.noun,
    ...coverage(known.words, said.words),
    ...coverage(known.nouns, said.nouns),
    ...coverage(withoutNames(known.words, known), withoutNames(said.words, said)),
    bit(countCommon(withoutNames(known.nouns, known), withoutNames(said.nouns, said)) > 0),
    Math.min(3, countCommon(known.words, said.words)) / 3,
    Math.min(2, countCommon(known.nouns, said.nouns)) / 2,
    ...comparison(known.verbs, said.verbs),
    ...comparison(known.names, said.names),
    ...comparison(known.kin, said.kin),
    ...valueKinds.flatMap((kind) => comparison(known.values[kind], said.values[kind]).slice(0, 2)),
    bit(hasConflict(known, said)),
    ...compareUnits(known, said),
    ...comparison(withoutFirst(known.names, known), withoutFirst(said.names, said)),
    ...comparison(listValues(known), listValues(said)).slice(2),
    bit(known.isNegative !== said.isNegative),
    bit(said.isEnded && !known.isEnded),
    ...[changing, adding, passing, past, pending].map((pattern) => bit(pattern.test(said.content))),
    ...[past, pending].map((pattern) => bit(pattern.test(known.content))),
    bit(pending.test(known.content) && reached.test(said.content)),
    ...compareHeads(known, said),
    ...compareFirst(known, said),
    ...comparison(known.first, said.first),
    ...comparison(known.later, said.later),
    bit(said.first.size === 0),
    bit(known.first.size === 0),
    bit(said.first.size > 0 && areDisjoint(said.first, known.words)),
    bit(known.first.size > 0 && areDisjoint(known.first, said.words)),
    bit(countCommon(said.first, known.words) > 0),
    bit(countCommon(known.first, said.words) > 0),
    bit(countCommon(said.first, known.later) > 0),
    bit(countCommon(known.later, said.words) > 0),
    bit(known.content.startsWith('User ')),
    bit(said.content.startsWith('User ')),
    Math.min(lengthLimit, known.length) / lengthLimit,
    Math.min(lengthLimit, said.length) / lengthLimit,
  ];
}

/** Whether the newer sentence denies a word of the older, and whether that is a name or a value. */
function compareDenied(known: Topic, said: Topic): [number, number] {
  const values = new Set(valueKinds.flatMap((kind) => [...known.values[kind]]));
  return [
    bit(countCommon(said.denied, known.words) > 0),
    bit(countCommon(said.denied, known.names) + countCommon(said.denied, values) > 0),
  ];
}

/** Whether both count the same, name other amounts of it, or count other things only. */
function compareUnits({ units: known }: Topic, { units: said }: Topic): [number, number, number] {
  const shared = [...known].filter(([unit]) => said.has(unit));
  const isOther = shared.some(([unit, amounts]) => areDisjoint(amounts, said.get(unit) ?? new Set()));
  return [bit(shared.length > 0), bit(isOther), bit(known.size > 0 && said.size > 0 && shared.length === 0)];
}

function bit(holds: boolean): number {
  return holds ? 1 : 0;
}

/** The shares of each set that the other has. */
function coverage(one: ReadonlySet<string>, other: ReadonlySet<string>): [number, number] {
  const common = countCommon(one, other);
  return [common / Math.max(1, one.size), common / Math.max(1, other.size)];
}

/** Whether two sets share an element, have only others, and whether the one or the other has some of its own. */
function comparison(known: ReadonlySet<string>, said: ReadonlySet<string>): [number, number, number, number] {
  const common = countCommon(known, said);
  return [bit(common > 0), bit(areDisjoint(known, said)), bit(said.size > common), bit(known.size > common)];
}

/**
 * Compares what two sentences begin with, "the night watchman", and what they say of it. A sentence about the same thing that
 * says another of it changes it; one with another name before its verb is about somebody else.
 */
function compareFirst(known: Topic, said: Topic): number[] {
  const common = countCommon(known.first, said.first);
  const isOne = common > 0 && common === Math.max(known.first.size, said.first.size);
  const isWithin = common > 0 && common === Math.min(known.first.size, said.first.size);
  const plain = countCommon(withoutNames(known.first, known), withoutNames(said.first, said)) > 0;
  const [names, otherNames] = [known, said].map((one) => new Set([...one.names].filter((name) => one.first.has(name))));
  const isOtherName = areDisjoint(names ?? new Set(), otherNames ?? new Set());
  const isOtherRest =
    hasConflict(known, said) || areDisjoint(withoutFirst(known.names, known), withoutFirst(said.names, said));
  return [
    bit(isOne),
    bit(isWithin),
    bit(plain),
    bit(isOtherName),
    bit(isOne && areDisjoint(known.later, said.later)),
    bit(isWithin && plain && !isOtherName && isOtherRest),
    bit(isWithin && changing.test(said.content)),
    bit(isWithin && known.isNegative !== said.isNegative),
  ];
}

/** Whether two sentences begin with the same thing ("User's rent is …"), or with two that share no word. */
function compareHeads(known: Topic, said: Topic): [number, number] {
  const [one, other] = [known, said].map(({ content }) => head.exec(content)?.groups?.['head']?.toLowerCase());
  if (one === undefined || other === undefined) return [0, 0];
  return [bit(one === other), bit(areDisjoint(new Set(one.split(' ')), new Set(other.split(' '))))];
}
