import { isSafeRule } from './instructions.ts';
import type { Verdict } from './judge.ts';
import { instructionThreshold, keepThreshold, surelyMeant } from './judge-weights.ts';
import type { Statement } from './statement.ts';

/** Whether a statement is worth keeping. Without a judge its form alone decides. */
export function isWorthKeeping(statement: Statement, verdict: Pick<Verdict, 'keep' | 'instruction'> | null): boolean {
  if (statement.threshold === null) return true;
  // An instruction of which nobody knows who gives it.
  if (statement.says === 'fact' && !statement.mayBeRule && (verdict?.instruction ?? 0) >= instructionThreshold)
    return false;
  if (verdict !== null)
    // Forms that are seldom anything but a fact or a rule need less of the judge.
    return verdict.keep >= keepThreshold - (statement.threshold < 0.5 ? surelyMeant : 0);
  if (statement.says === 'rule' || statement.predicate !== null) return true;
  return /^User\b/.test(statement.content) || statement.subject !== 'user';
}

/** What the judge is certain to be an instruction is a rule, though no form of instructions fits it. */
export function asRule(statement: Statement, verdict: Pick<Verdict, 'instruction'> | null): Statement {
  if (statement.says === 'rule' || statement.predicate !== null) return statement;
  if ((verdict?.instruction ?? 0) < instructionThreshold || !isSafeRule(statement.content)) return statement;
  const { content, isSpeech } = statement;
  return { says: 'rule', isSpeech, content, importance: 7, threshold: null };
}
