/** Memories and questions of one made-up household. Keys stand for ids, which a server gives out itself. */
export interface FactToStore {
  type: 'fact';
  key: string;
  subject: string;
  predicate: string;
  content: string;
  /** `global` when left out. */
  scope?: string;
}

export interface RuleToStore {
  type: 'rule';
  key: string;
  content: string;
}

export interface EpisodeToStore {
  type: 'episode';
  key: string;
  butler: string;
  content: string;
  observedAt: Date;
}

export interface SessionToStore {
  sessionId: string;
  episodes: EpisodeToStore[];
}

export const questionKinds = [
  'exact words',
  'paraphrase',
  'negation',
  'update',
  'time',
  'identity',
  'preference',
  'procedure',
  'several sessions',
  'own scope',
] as const;
export type QuestionKind = (typeof questionKinds)[number];

export interface Question {
  kind: QuestionKind;
  text: string;
  /** Keys of all memories that answer it. */
  answers: readonly string[];
  /** Keys of memories that must not come, however well they match. */
  never?: readonly string[];
  /** Asked on behalf of this butler. */
  scope?: string;
}

export interface QualityData {
  /** In this order: a later fact with the key of an earlier one supersedes it. */
  facts: FactToStore[];
  rules: RuleToStore[];
  sessions: SessionToStore[];
  questions: Question[];
}
