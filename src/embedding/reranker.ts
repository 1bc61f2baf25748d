/** Reads query and text together, which tells more than two vectors that do not know of each other, and takes longer. */
export interface Reranker {
  /** Idempotent; concurrent callers share one attempt. */
  load(): Promise<void>;
  /** How well each text answers the query, from 0 to 1, in the order given. The same pair has the same score each time. */
  rank(query: string, texts: readonly string[]): Promise<number[]>;
  /** Pending calls reject, as does every later one. */
  close(): Promise<void>;
}
