import type { MemoryEvent } from '../../generated/prisma/client.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import type { Mutation } from '../mutation.ts';
import { effectiveness } from '../rules/rule-maturity.ts';
import { changedSince, traceDeed, type Deed } from './event-graph.ts';

/**
 * An application says that a rule was helpful or harmful once. It has the id of its event (rule.marked_*), and counts
 * unless an event retired it: an undo of the mark, or an edit, since a new text was not judged yet.
 */

/**
 * Reverts what an event of a rule did to the rule's applications. Returns the counters that follow, or nothing when no
 * application is concerned.
 */
export async function revertApplications(mutation: Mutation, event: MemoryEvent): Promise<Snapshot> {
  const { transaction, tenantId, eventId } = mutation;
  const { count: revived } = await transaction.ruleApplication.updateMany({
    where: { tenantId, retiredByEventId: event.id },
    data: { retiredByEventId: null },
  });
  const deed = await traceDeed(transaction, event);
  const ids = await listBroughtApplications(mutation, deed);
  const { count: retired } = await transaction.ruleApplication.updateMany({
    where: { tenantId, id: { in: ids }, retiredByEventId: null },
    data: { retiredByEventId: eventId },
  });
  if (isMark(deed.first) && revived + retired === 0) throw await changedSince(mutation, event, 'the judgement');
  return revived + retired === 0 ? {} : countApplications(mutation, event.entityId);
}

/**
 * Lists the applications that count because of an event: the one of a mark, as long as it is made; those of the old text,
 * once an edit is taken back.
 */
async function listBroughtApplications(
  { transaction, tenantId }: Mutation,
  { first, isMade }: Deed,
): Promise<string[]> {
  if (isMark(first)) return isMade ? [first.id] : [];
  if (first.eventType !== 'rule.edited' || isMade) return [];
  const { entityType, entityId, sequence } = first;
  const marks = await transaction.memoryEvent.findMany({
    where: { tenantId, entityType, entityId, eventType: { startsWith: markPrefix }, sequence: { lt: sequence } },
    select: { id: true },
  });
  return marks.map(({ id }) => id);
}

const markPrefix = 'rule.marked_';

function isMark({ eventType }: MemoryEvent): boolean {
  return eventType.startsWith(markPrefix);
}

/** Counts anew instead of subtracting: other applications may have been made or retired since the event. */
async function countApplications({ transaction, tenantId }: Mutation, ruleId: string): Promise<Snapshot> {
  const where = { tenantId, ruleId, retiredByEventId: null };
  const successCount = await transaction.ruleApplication.count({ where: { ...where, outcome: 'helpful' } });
  const harmfulCount = await transaction.ruleApplication.count({ where: { ...where, outcome: 'harmful' } });
  return {
    applied_count: successCount + harmfulCount,
    success_count: successCount,
    harmful_count: harmfulCount,
    effectiveness_score: effectiveness({ successCount, harmfulCount }),
  };
}
