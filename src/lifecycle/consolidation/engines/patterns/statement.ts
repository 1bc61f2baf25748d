import type { Permanence } from '../../../../memory/confidence.ts';
import type { Doubt } from './refusals.ts';

/** What a sentence says, before it is compared with what is known. */
export type Statement = FactStatement | RuleStatement;

export interface FactStatement {
  readonly says: 'fact';
  readonly subject: string;
  /** Null for a note: a sentence worth keeping that fits no predicate. */
  readonly predicate: string | null;
  /** Words of the value by which an ended statement finds the one that it ends. */
  readonly value: string;
  /** A predicate of the same subject that cannot hold beside this one. */
  readonly opposite: string | null;
  /** It holds no more. */
  readonly isEnded: boolean;
  /** A measurement or a meal: it happened on that day, and nothing replaces it. */
  readonly isEvent: boolean;
  /** The user's own words, in a line of theirs. */
  readonly isSpeech: boolean;
  /** It is certain that the user or a butler says it: the judge may find that it is an instruction. */
  readonly mayBeRule: boolean;
  /** What speaks against it. */
  readonly doubts: readonly Doubt[];
  readonly content: string;
  readonly permanence: Permanence;
  readonly importance: number;
  /** Probability below which the judge drops it; null where the form alone decides. */
  readonly threshold: number | null;
}

export interface RuleStatement {
  readonly says: 'rule';
  readonly isSpeech: boolean;
  readonly content: string;
  readonly importance: number;
  readonly threshold: number | null;
}

export const userSubject = 'user';

/** Whether its form is seldom anything but a fact or a rule, and nothing speaks against it. */
export function isSeldomWrong(statement: Statement): boolean {
  const isDoubtful = statement.says === 'fact' && statement.doubts.length > 0;
  return statement.threshold !== null && statement.threshold < 0.5 && !isDoubtful;
}
