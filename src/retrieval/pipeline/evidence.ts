import type { EmbeddingSlot } from '../../db/queries/embeddings.ts';
import type { TokenVectors } from '../../embedding/token-vectors.ts';
import type { ExpectedAnswer } from '../query/expected-answer.ts';
import type { Preceding } from './lend.ts';
import type { Whom } from '../query/whom.ts';

/** The word pieces of a question, and the version whose vectors they may be compared with. */
export interface AskedTokens {
  tokens: TokenVectors;
  /** Those of the whole question, where `tokens` leaves names out. */
  whole: TokenVectors | null;
  version: { id: string; slot: EmbeddingSlot };
}

/** The features of a question by which memories are judged. */
export interface Evidence {
  /** Null for a text that is too long to be a question. */
  whom: Whom | null;
  /** The kind of answer that it expects; null for such a text. */
  expected: ExpectedAnswer | null;
  /** Words of the question with their inverse document frequency, and where a candidate has its score of each. */
  words: readonly { lexeme: string; weight: number; place: number }[];
  /** Lexemes of the gloss of a predicate. */
  findGlossLexemes: (predicateKey: string) => ReadonlySet<string>;
  /** What stands just before each candidate in the episodes that it was learned from. */
  preceding: Preceding;
  /** Memories that were searched. */
  documents: number;
  /** Its word pieces; null where the model knows none. */
  asked: AskedTokens | null;
  /** How well memories have each word of it, by id: of those that were compared word by word. */
  tokenSimilarities: ReadonlyMap<string, TokenSimilarity>;
  /** Whether a cross-encoder has read the best matches. */
  isCrossEncoded: boolean;
}

/** Similarities of a memory to a question, word by word. */
export interface TokenSimilarity {
  /** Without the names in the question. */
  asked: number;
  whole: number;
  /** What the memory just before it in their episode adds to the first. */
  lent: number;
}
