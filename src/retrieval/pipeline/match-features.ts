import type { Candidate } from '../../db/queries/candidate.ts';
import type { ExpectedAnswer } from '../query/expected-answer.ts';
import { ownSubjects, type Whom } from '../query/whom.ts';
import type { Evidence } from './evidence.ts';
import type { MatchParts } from './ranked.ts';

/** What speaks for a match, in the order of their weights. */
export const featureNames = [
  'similarity',
  'wholeSimilarity',
  'tokens',
  'wholeTokens',
  'ownWords',
  'glossWords',
  'namesWhom',
  'tellsTime',
  'tellsAmount',
  'isRule',
  'ruleForFact',
  'ruleForAdvice',
  'tellsRelation',
  'namesRelation',
] as const;
export type FeatureName = (typeof featureNames)[number];
export type Features = Record<FeatureName, number>;

/**
 * Relates the subject of a memory to that of the question: `about` the same, `mention` the memory has the name, `own` the
 * user, `other` another person, `thing` a subject without a name. Rules have no subject.
 */
export const subjectClasses = ['about', 'mention', 'own', 'other', 'thing', 'rule', 'ruleMention'] as const;
export type SubjectClass = (typeof subjectClasses)[number];

/** Shares of the question's words, weighed by rarity. */
export interface Coverage {
  /** Of those that the memory has. */
  own: number;
  /** Of those that only the gloss of its predicate has. */
  gloss: number;
}

/** Measures a match; each channel stands in for the other where only one was searched. */
export function measureFeatures(
  memory: Candidate,
  { similarity, wholeSimilarity }: Pick<MatchParts, 'similarity' | 'wholeSimilarity'>,
  evidence: Evidence,
): Features {
  const { whom, expected, words } = evidence;
  const coverage = measureCoverage(memory, evidence);
  const meaning = similarity ?? 0.5 * (coverage.own + coverage.gloss);
  const whole = wholeSimilarity ?? meaning;
  const tokens = evidence.tokenSimilarities.get(memory.id);
  const isRule = memory.type === 'rule';
  const tells = tellsRelation(memory, whom);
  return {
    similarity: meaning,
    wholeSimilarity: whole,
    tokens: tokens?.asked ?? expectTokenSimilarity(meaning, coverage, evidence),
    wholeTokens: tokens?.whole ?? expectTokenSimilarity(whole, coverage, evidence),
    ownWords: words.length === 0 ? meaning : coverage.own,
    glossWords: coverage.gloss,
    namesWhom: Number(memory.namesSomebody),
    tellsTime: Number(memory.type !== 'episode' && memory.tellsTime),
    tellsAmount: Number(memory.tellsAmount),
    isRule: Number(isRule),
    ruleForFact: Number(isRule && expects(expected, 'fact')),
    ruleForAdvice: Number(isRule && expects(expected, 'advice')),
    tellsRelation: Number(tells),
    namesRelation: Number(tells && expects(expected, 'name')),
  };
}

function expects(expected: ExpectedAnswer | null, kind: keyof ExpectedAnswer): boolean {
  return expected?.[kind] === true;
}

/**
 * What a comparison word by word mostly gives, on the development questions. A model that knows no word pieces is none that
 * reads sentences: there the words themselves say more.
 */
function expectTokenSimilarity(similarity: number, { own, gloss }: Coverage, { asked }: Evidence): number {
  return 0.07 + 0.54 * similarity + (asked === null ? 0.5 : 0.2) * own + 0.24 * gloss;
}

export function measureCoverage(
  { words: scores, predicateKey }: Candidate,
  { words, findGlossLexemes }: Pick<Evidence, 'words' | 'findGlossLexemes'>,
): Coverage {
  const lexemes = predicateKey === null ? null : findGlossLexemes(predicateKey);
  let [own, gloss, all] = [0, 0, 0];
  for (const { lexeme, weight, place } of words) {
    all += weight;
    if ((scores[place] ?? 0) > 0) own += weight;
    else if (lexemes?.has(lexeme) === true) gloss += weight;
  }
  return all === 0 ? { own: 0, gloss: 0 } : { own: own / all, gloss: gloss / all };
}

/** Null for an episode, which has no subject, and for a text that asks of nobody. */
export function classifySubject(memory: Candidate, whom: Whom | null): SubjectClass | null {
  const { type, subjectKey, hasName, mentions } = memory;
  if (whom === null || type === 'episode') return null;
  if (type === 'rule') return mentions ? 'ruleMention' : 'rule';
  if (subjectKey !== null && whom.subjects.has(subjectKey)) return 'about';
  if (mentions || tellsRelation(memory, whom)) return 'mention';
  if (isOwn(subjectKey)) return 'own';
  return hasName ? 'other' : 'thing';
}

/** Whether it is the fact of the user that says who is meant: "wife: Alina". */
function tellsRelation({ subjectKey, predicateKey }: Candidate, whom: Whom | null): boolean {
  return isOwn(subjectKey) && whom !== null && whom.relations.has(predicateKey ?? '');
}

function isOwn(subjectKey: string | null): boolean {
  return subjectKey !== null && ownSubjects.has(subjectKey);
}
