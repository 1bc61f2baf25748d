import type { Candidate } from '../../db/queries/candidate.ts';
import type { EmbeddingSlot } from '../../db/queries/embeddings.ts';
import type { TokenVectors } from '../../embedding/token-vectors.ts';
import { ownSubjects, type Whom } from '../query/whom.ts';
import { roundScore, type MatchParts, type Ranked } from './ranked.ts';

/** The word pieces of a question, and the version whose vectors they may be compared with. */
export interface AskedTokens {
  tokens: TokenVectors;
  version: { id: string; slot: EmbeddingSlot };
}

/** The features of a question by which memories are judged. */
export interface Evidence {
  /** Null for a text that is too long to be a question. */
  whom: Whom | null;
  /** Words of the question with their inverse document frequency, and where a candidate has its score of each. */
  words: readonly { lexeme: string; weight: number; place: number }[];
  /** Lexemes of the gloss of a predicate. */
  findGlossLexemes: (predicateKey: string) => ReadonlySet<string>;
  /** Memories that were searched. */
  documents: number;
  /** Whether it asks who somebody is. */
  asksWho: boolean;
  /** Its word pieces; null where the model knows none. */
  asked: AskedTokens | null;
  /** How well memories have each word of it, by id: of those that were compared word by word. */
  tokenSimilarities: ReadonlyMap<string, number>;
  /** Whether a cross-encoder has read the best matches. */
  isCrossEncoded: boolean;
}

/**
 * Weights of the share of the question's words that a memory has, beside its similarity: of its own words, and of those
 * that only the gloss of its predicate has. The latter name the predicate, where the former may come up in passing.
 */
const coverageWeights = { own: 0.27, gloss: 0.48 };
/** Weight of the comparison word by word. */
const tokenWeight = 0.63;
/** What a memory gains for naming somebody, where the question asks who. */
const nameWeight = 0.16;
/** Weight of what a cross-encoder says, 0 to 1, where one is configured. Not measured: the package carries none. */
const crossEncoderWeight = 0.3;
/** What a memory loses for being about somebody else. Rules, which have no subject, lose a share of it. */
const penalties: Record<Whom['kind'], number> = {
  named: 0.5,
  relation: 0.38,
  user: 0.25,
  self: 0.25,
  pronoun: 0.25,
  open: 0.06,
};
const ruleShare = 0.6;
/** How well a memory fits that mentions the person, or says who it is, but is about another subject. */
const mentionFit = 0.8;
/** The same for what is about the user or the family, where a relative is meant. */
const ownFit = 0.5;

/**
 * The probability that a match answers the question, σ(z): fitted to the development questions of bench/quality/recall,
 * where half of the questions have no answer. The more memories there are, the better matches a question without an answer
 * finds by chance. A question that speaks of a person is more often one of memory; one with a name that no memory has, or one
 * of nobody in words that no memory has, is more often one of general knowledge.
 */
const gate = {
  score: 7.9,
  named: 2.09,
  personal: 0.99,
  unknownName: -1.49,
  unknownWords: -1.38,
  logDocuments: -0.16,
  constant: -4.86,
};

/** Sets the relevance of each memory: the probability that it answers the question. Keeps their order. */
export function judge(ranked: readonly Ranked[], evidence: Evidence): Ranked[] {
  const ofLearned = measureQuestion(evidence, true);
  const ofEpisodes = measureQuestion(evidence, false);
  return ranked.map((one) => {
    const base = one.memory.type === 'episode' ? ofEpisodes : ofLearned;
    if (one.parts.match === null) return one;
    const coverage = measureCoverage(one.memory, evidence);
    const subjectPenalty = measurePenalty(one.memory, evidence.whom);
    const tokenSimilarity = findTokenSimilarity(one.memory, evidence);
    const matchScore = roundScore(scoreMatch(one, coverage, tokenSimilarity, evidence) - subjectPenalty);
    const match = {
      ...one.parts.match,
      coverage: roundScore(coverage.own + coverage.gloss),
      subjectPenalty,
      tokenSimilarity,
      matchScore,
    };
    return { ...one, relevance: asProbability(gate.score * matchScore + base), parts: { ...one.parts, match } };
  });
}

/** Returns the probability of a match whose score is this much better. */
export function shiftProbability(relevance: number, matchScore: number): number {
  return asProbability(Math.log(relevance / (1 - relevance)) + gate.score * matchScore);
}

/** That a question speaks of a person is no sign for episodes: they have no subject by which they could miss the person. */
function measureQuestion({ whom, words, documents }: Evidence, hasSubjects: boolean): number {
  const isNamed = whom !== null && ['named', 'relation', 'user'].includes(whom.kind);
  return (
    gate.constant +
    gate.logDocuments * Math.log(Math.max(1, documents)) +
    (hasSubjects && isNamed ? gate.named : 0) +
    (hasSubjects && whom?.isPersonal === true ? gate.personal : 0) +
    (hasSubjects && (isNamed || whom?.isPersonal === true) ? 0 : gate.unknownWords * measureUnknown(words)) +
    (whom?.otherNames.some((name) => isNowhere(name, words)) === true ? gate.unknownName : 0)
  );
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

/** Each of the two stands in for the other where only one channel was searched. */
function scoreMatch(
  { memory, parts }: Ranked,
  { own, gloss }: Coverage,
  tokenSimilarity: number | null,
  { words, isCrossEncoded, asksWho }: Evidence,
): number {
  const { similarity, rerankScore } = parts.match as MatchParts;
  const meaning = similarity ?? 0.5 * (own + gloss);
  const read = isCrossEncoded ? crossEncoderWeight * ((rerankScore ?? 0) - 0.5) : 0;
  const byTokens = tokenWeight * (tokenSimilarity ?? expectTokenSimilarity(meaning));
  const byWords = coverageWeights.own * own + coverageWeights.gloss * gloss;
  const byName = asksWho && memory.namesSomebody ? nameWeight : 0;
  return read + meaning + byTokens + byName + (words.length === 0 ? coverageWeights.own * meaning : byWords);
}

function findTokenSimilarity({ id }: Candidate, { tokenSimilarities }: Evidence): number | null {
  const found = tokenSimilarities.get(id);
  return found === undefined ? null : roundScore(found);
}

/** What a comparison word by word mostly gives for this similarity, on the development questions. */
function expectTokenSimilarity(similarity: number): number {
  return 0.068 + 0.628 * similarity;
}

/** Shares of the question's words, weighed by rarity. */
interface Coverage {
  /** Of those that the memory has. */
  own: number;
  /** Of those that only the gloss of its predicate has. */
  gloss: number;
}

function measureCoverage({ words: scores, predicateKey }: Candidate, { words, findGlossLexemes }: Evidence): Coverage {
  const lexemes = predicateKey === null ? null : findGlossLexemes(predicateKey);
  let [own, gloss, all] = [0, 0, 0];
  for (const { lexeme, weight, place } of words) {
    all += weight;
    if ((scores[place] ?? 0) > 0) own += weight;
    else if (lexemes?.has(lexeme) === true) gloss += weight;
  }
  return all === 0 ? { own: 0, gloss: 0 } : { own: own / all, gloss: gloss / all };
}

function measurePenalty(memory: Candidate, whom: Whom | null): number {
  if (whom === null || memory.type === 'episode') return 0;
  return roundScore(penalties[whom.kind] * (1 - measureFit(memory, whom)) * (memory.type === 'rule' ? ruleShare : 1));
}

/** How well the subject of a memory fits: 1 for a memory about the person who is meant. */
function measureFit({ type, subjectKey, predicateKey, hasName, mentions }: Candidate, whom: Whom): number {
  const isAbout = subjectKey !== null && whom.subjects.has(subjectKey);
  if (isAbout) return 1;
  if (whom.kind === 'named' || whom.kind === 'relation') {
    const isOwn = subjectKey !== null && ownSubjects.has(subjectKey);
    const tells = isOwn && whom.relations.has(predicateKey ?? '');
    if (mentions || tells) return mentionFit;
    return isOwn && whom.kind === 'relation' ? ownFit : 0;
  }
  const isOfSomebody = type === 'fact' && hasName && !ownSubjects.has(subjectKey ?? '');
  return isOfSomebody ? 0 : 1;
}

function asProbability(z: number): number {
  return 1 / (1 + Math.exp(-z));
}
