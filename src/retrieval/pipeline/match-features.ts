import type { Candidate } from '../../db/queries/candidate.ts';
import type { ExpectedAnswer } from '../query/expected-answer.ts';
import { readsAsNote } from '../../memory/facts/note-key.ts';
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
  'isNote',
  'noteSimilarity',
  'noteWholeSimilarity',
  'noteTokens',
  'noteWholeTokens',
  'noteWords',
  'lentSimilarity',
  'lentTokens',
  'lentWords',
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
  const ofNote = Number(isNote(memory));
  const tells = tellsRelation(memory, whom);
  const pieces = tokens?.asked ?? expectTokenSimilarity(meaning, coverage, evidence);
  const wholePieces = tokens?.whole ?? expectTokenSimilarity(whole, coverage, evidence);
  const ownWords = words.length === 0 ? meaning : coverage.own;
  return {
    similarity: meaning,
    wholeSimilarity: whole,
    tokens: pieces,
    wholeTokens: wholePieces,
    ownWords,
    glossWords: coverage.gloss,
    namesWhom: Number(memory.namesSomebody),
    tellsTime: Number(memory.type !== 'episode' && memory.tellsTime),
    tellsAmount: Number(memory.tellsAmount),
    isRule: Number(isRule),
    ruleForFact: Number(isRule && expects(expected, 'fact')),
    ruleForAdvice: Number(isRule && expects(expected, 'advice')),
    tellsRelation: Number(tells),
    namesRelation: Number(tells && expects(expected, 'name')),
    isNote: ofNote,
    noteSimilarity: ofNote * meaning,
    noteWholeSimilarity: ofNote * whole,
    noteTokens: ofNote * pieces,
    noteWholeTokens: ofNote * wholePieces,
    noteWords: ofNote * ownWords,
    lentTokens: tokens?.lent ?? 0,
    ...measureLoan(memory, meaning, evidence),
  };
}

/** Tells a sentence with no predicate of its own: nothing but its text says what it is about. */
export function isNote({ subjectKey, predicateKey }: Candidate): boolean {
  return predicateKey !== null && readsAsNote({ subject: subjectKey ?? '', predicate: predicateKey });
}

/** Measures what the memory just before it in their episode adds: it may name what this one only speaks of. */
function measureLoan(
  memory: Candidate,
  similarity: number,
  { preceding, words }: Evidence,
): Pick<Features, 'lentSimilarity' | 'lentWords'> {
  const all = words.reduce((sum, { weight }) => sum + weight, 0);
  const loans = (preceding.get(memory.id) ?? []).map((before) => {
    const added = words.filter(({ place }) => (before.words[place] ?? 0) > 0 && !((memory.words[place] ?? 0) > 0));
    return {
      similarity: (before.similarity ?? 0) - similarity,
      words: all === 0 ? 0 : added.reduce((sum, { weight }) => sum + weight, 0) / all,
    };
  });
  return {
    lentSimilarity: Math.max(0, ...loans.map((loan) => loan.similarity)),
    lentWords: Math.max(0, ...loans.map((loan) => loan.words)),
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
