import * as consolidationAgent from '../../src/lifecycle/consolidation/agent.ts';
import * as consolidationOutput from '../../src/lifecycle/consolidation/apply.ts';
import * as consolidationFailure from '../../src/lifecycle/consolidation/fail.ts';
import * as consolidationRequeue from '../../src/lifecycle/consolidation/requeue.ts';
import * as confirm from '../../src/memory/confirm.ts';
import * as forget from '../../src/memory/forgetting/forget.ts';
import * as episodes from '../../src/memory/episodes/episodes.ts';
import * as erasure from '../../src/memory/erasure/erasure.ts';
import * as facts from '../../src/memory/facts/facts.ts';
import * as notes from '../../src/memory/facts/notes.ts';
import * as undo from '../../src/memory/history/undo.ts';
import * as links from '../../src/memory/links/link-graph.ts';
import type { Written } from '../../src/memory/mutation.ts';
import * as ruleChanges from '../../src/memory/rules/rule-changes.ts';
import * as ruleMarks from '../../src/memory/rules/rule-marks.ts';
import * as rules from '../../src/memory/rules/rules.ts';

/** The writes of the core as most tests want them: the value alone, without the report. */

function valueOf<Given extends unknown[], Value>(
  write: (...given: Given) => Promise<Written<Value>>,
): (...given: Given) => Promise<Value> {
  return async (...given) => (await write(...given)).value;
}

export const storeEpisode = valueOf(episodes.storeEpisode);
export const ingestEpisodes = valueOf(episodes.ingestEpisodes);
export const storeFact = valueOf(facts.storeFact);
export const storeNote = valueOf(notes.storeNote);
export const storeRule = valueOf(rules.storeRule);
export const markRule = valueOf(ruleMarks.markRule);
export const editRule = valueOf(ruleChanges.editRule);
export const promoteRule = valueOf(ruleChanges.promoteRule);
export const demoteRule = valueOf(ruleChanges.demoteRule);
export const disableRule = valueOf(ruleChanges.disableRule);
export const enableRule = valueOf(ruleChanges.enableRule);
export const confirmMemory = valueOf(confirm.confirmMemory);
export const forgetMemory = valueOf(forget.forgetMemory);
export const restoreMemory = valueOf(forget.restoreMemory);
export const linkMemories = valueOf(links.linkMemories);
export const undoEvent = valueOf(undo.undoEvent);
export const eraseMemory = valueOf(erasure.eraseMemory);
export const eraseSubject = valueOf(erasure.eraseSubject);
export const claimForAgent = valueOf(consolidationAgent.claimForAgent);
export const submitOutput = valueOf(consolidationAgent.submitOutput);
export const applyOutput = valueOf(consolidationOutput.applyOutput);
export const failRun = valueOf(consolidationFailure.failRun);
export const requeueEpisodes = valueOf(consolidationRequeue.requeueEpisodes);
