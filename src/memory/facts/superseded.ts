import type { StoredFact } from '../../db/stored-fact.ts';
import type { MemoryContext } from '../context.ts';

/**
 * Lists the facts that one write superseded besides the predecessor of the fact that it stored, oldest first: other values
 * of a predicate that no longer holds several, or a fact that the caller named while the new one was known already.
 */
export async function listOtherSuperseded(
  { db, principal: { tenantId } }: MemoryContext,
  { eventId, supersededId }: { eventId: string; supersededId: string | null },
): Promise<StoredFact[]> {
  const events = await db.client.memoryEvent.findMany({
    where: { tenantId, causeEventId: eventId, eventType: 'fact.superseded' },
    select: { entityId: true },
  });
  const ids = events.map(({ entityId }) => entityId).filter((id) => id !== supersededId);
  return ids.length === 0
    ? []
    : db.client.fact.findMany({ where: { tenantId, id: { in: ids } }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
}
