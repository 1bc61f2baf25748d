import type { Permanence } from '../../../../memory/confidence.ts';

/** What a sentence says, before anybody asked what is known already. */
export type Statement = FactStatement | EndedStatement | RuleStatement;

export interface FactStatement {
  readonly says: 'holds';
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  readonly permanence: Permanence;
  readonly importance: number;
  /** A fact of the same subject that cannot hold beside this one, though its predicate is another. */
  readonly opposite: string | null;
}

/** That something no longer holds: stored only where it was known. */
export interface EndedStatement {
  readonly says: 'ended';
  readonly subject: string;
  /** Under any of these it may be known. */
  readonly predicates: readonly string[];
  /** Words that the known fact must have, so that it is the one that ended. */
  readonly value: string;
  readonly content: string;
}

export interface RuleStatement {
  readonly says: 'rule';
  readonly content: string;
  readonly importance: number;
}

export const userSubject = 'user';
