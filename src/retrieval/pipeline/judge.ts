import type { Candidate } from '../../db/queries/candidate.ts';
import type { Evidence } from './evidence.ts';
import { judgeWeights } from './judge-weights.ts';
import {
  classifySubject,
  featureNames,
  isNote,
  measureCoverage,
  measureFeatures,
  type Features,
  type SubjectClass,
} from './match-features.ts';
import { roundScore, type MatchParts, type Ranked } from './ranked.ts';

/** The weights of a judge: bench/quality/recall/train.ts fits them. */
export interface JudgeWeights {
  features: Readonly<Record<string, number>>;
  /** By whom a question is about, and then by whom a memory is about. */
  subjects: Readonly<Record<string, Readonly<Record<string, number>>>>;
  gate: Readonly<Record<string, number>>;
}

/** Weight of what a cross-encoder says, 0 to 1, where one is configured. Not measured: the package carries none. */
const crossEncoderWeight = 0.3;

/** Sets the relevance of each memory: the probability that it answers the question. Keeps their order. */
export function judge(ranked: readonly Ranked[], evidence: Evidence, weights: JudgeWeights = judgeWeights): Ranked[] {
  const scored = ranked.map((one) => scoreMatch(one, evidence, weights));
  const best = scored
    .filter(({ memory }) => memory.type !== 'episode')
    .toSorted((a, b) => matchScoreOf(b) - matchScoreOf(a));
  const ofLearned = measureGate(evidence, weights) + weighType(best[0]?.memory, weights);
  const ofEpisodes = measureEpisodeGate(evidence, weights);
  return scored.map((one) => {
    if (one.parts.match === null) return one;
    const base = one.memory.type === 'episode' ? ofEpisodes : ofLearned;
    return { ...one, relevance: asProbability((weights.gate['score'] ?? 0) * matchScoreOf(one) + base) };
  });
}

function scoreMatch(one: Ranked, evidence: Evidence, weights: JudgeWeights): Ranked {
  const { match } = one.parts;
  if (match === null) return one;
  const features = measureFeatures(one.memory, match, evidence);
  const coverage = measureCoverage(one.memory, evidence);
  const subjectPenalty = roundScore(-weighSubject(classifySubject(one.memory, evidence.whom), evidence, weights));
  const byReader = evidence.isCrossEncoded ? crossEncoderWeight * ((match.rerankScore ?? 0) - 0.5) : 0;
  const matchScore = roundScore(weighFeatures(features, weights) + byReader - subjectPenalty);
  const judged: MatchParts = {
    ...match,
    coverage: roundScore(coverage.own + coverage.gloss),
    subjectPenalty,
    tokenSimilarity: findTokenSimilarity(one.memory.id, evidence),
    matchScore,
  };
  return { ...one, parts: { ...one.parts, match: judged } };
}

export function matchScoreOf({ parts }: Ranked): number {
  return parts.match?.matchScore ?? 0;
}

/**
 * What the type of the best match says of the question. A fact is found by its gloss; a note or rule that is the best of
 * all is more often the best by chance.
 */
function weighType(best: Candidate | undefined, { gate }: JudgeWeights): number {
  if (best === undefined) return 0;
  return (best.type === 'rule' ? (gate['isRule'] ?? 0) : 0) + (isNote(best) ? (gate['isNote'] ?? 0) : 0);
}

/** Returns the probability of a match whose score is this much better. */
export function shiftProbability(relevance: number, matchScore: number): number {
  return asProbability(Math.log(relevance / (1 - relevance)) + judgeWeights.gate.score * matchScore);
}

function weighFeatures(features: Features, weights: JudgeWeights): number {
  return featureNames.reduce((sum, name) => sum + (weights.features[name] ?? 0) * features[name], 0);
}

function weighSubject(subject: SubjectClass | null, { whom }: Evidence, { subjects }: JudgeWeights): number {
  return subject === null || whom === null ? 0 : (subjects[whom.kind]?.[subject] ?? 0);
}

/**
 * What the relevance of a question's memories starts from: fitted to the development questions, about half of which have no
 * answer. A question that speaks of a person is more often one of memory; one with a name that no memory has, or one of
 * nobody in words that no memory has, is more often one of general knowledge. The more memories there are, the better
 * matches a question without an answer finds by chance.
 */
export function measureQuestion({ whom, words, documents }: Evidence): Record<string, number> {
  const isNamed = whom !== null && ['named', 'perhapsUser', 'relation', 'user'].includes(whom.kind);
  const isPersonal = whom?.isPersonal === true;
  return {
    named: Number(isNamed),
    personal: Number(isPersonal),
    unknownName: Number(whom?.otherNames.some((name) => isNowhere(name, words)) === true),
    unknownWords: isNamed || isPersonal ? 0 : measureUnknown(words),
    logDocuments: Math.log(Math.max(1, documents)),
    constant: 1,
  };
}

function measureGate(evidence: Evidence, { gate }: JudgeWeights): number {
  return Object.entries(measureQuestion(evidence)).reduce((sum, [name, value]) => sum + (gate[name] ?? 0) * value, 0);
}

/** That a question speaks of a person is no sign for episodes: they have no subject by which they could miss the person. */
function measureEpisodeGate(evidence: Evidence, weights: JudgeWeights): number {
  const { named: _named, personal: _personal, unknownWords: _unknownWords, ...gate } = weights.gate;
  return measureGate(evidence, { ...weights, gate });
}

/** The share of words that no memory has, weighed by rarity. */
function measureUnknown(words: Evidence['words']): number {
  const all = words.reduce((sum, { weight }) => sum + weight, 0);
  const unknown = words.reduce((sum, { weight, place }) => sum + (place < 0 ? weight : 0), 0);
  return all === 0 ? 0 : unknown / all;
}

/** Whether no memory has a word. Stems differ from their words in the last letters. */
function isNowhere(word: string, words: Evidence['words']): boolean {
  return words.some(({ lexeme, place }) => place < 0 && lexeme.length > 2 && word.startsWith(lexeme.slice(0, -1)));
}

function findTokenSimilarity(id: string, { tokenSimilarities }: Evidence): number | null {
  const found = tokenSimilarities.get(id);
  return found === undefined ? null : roundScore(found.asked);
}

function asProbability(z: number): number {
  return 1 / (1 + Math.exp(-z));
}
