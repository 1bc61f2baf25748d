import { isSafeRule } from './instructions.ts';
import type { Verdict } from './judge.ts';
import { thresholds } from './judge-weights.ts';
import { isSeldomWrong, type Statement } from './statement.ts';

/** Likelihoods from which the judge is believed. */
export interface Thresholds {
  readonly keep: number;
  readonly instruction: number;
  /** Forms that are seldom anything but a fact or a rule need so much less. */
  readonly surelyMeant: number;
}

type Judged = Pick<Verdict, 'keep' | 'instruction'>;

/** Whether a statement is worth keeping. Without a judge its form alone decides. */
export function isWorthKeeping(
  statement: Statement,
  verdict: Judged | null,
  { keep, instruction, surelyMeant }: Thresholds = thresholds,
): boolean {
  if (statement.threshold === null) return true;
  if (verdict === null) return isMeant(statement);
  // An instruction of which nobody knows who gives it.
  if (statement.says === 'fact' && !statement.mayBeRule && verdict.instruction >= Math.max(0.5, instruction))
    return false;
  return verdict.keep >= keep - (isSeldomWrong(statement) ? surelyMeant : 0);
}

function isMeant(statement: Statement): boolean {
  if (statement.says === 'rule') return true;
  if (statement.doubts.length > 0) return false;
  return statement.predicate !== null || /^User\b/.test(statement.content) || statement.subject !== 'user';
}

/** What the judge is certain to be an instruction is a rule, though no form of instructions fits it. */
export function asRule(
  statement: Statement,
  verdict: Judged | null,
  { instruction }: Pick<Thresholds, 'instruction'> = thresholds,
): Statement {
  if (statement.says === 'rule' || statement.predicate !== null || !statement.mayBeRule) return statement;
  if ((verdict?.instruction ?? 0) < instruction || !isSafeRule(statement.content)) return statement;
  const { content, isSpeech } = statement;
  return { says: 'rule', isSpeech, content, importance: 7, threshold: null };
}
