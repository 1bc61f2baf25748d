import type { Transaction } from '../../db/database.ts';
import type { MemoryEvent } from '../../generated/prisma/client.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { Mutation } from '../mutation.ts';

/**
 * How events refer to each other: a consequence names its cause, an undo names the event that it reverts. An undo is an
 * event like any other, so it may be undone too, and that undo again.
 */

/** Lists what followed from an event, and what followed from that: the memories of a run, then the links of each. */
export async function listConsequences(
  { memoryEvent }: Transaction,
  { tenantId, id }: MemoryEvent,
): Promise<MemoryEvent[]> {
  const found: MemoryEvent[] = [];
  for (let causes = [id]; causes.length > 0;) {
    const events = await memoryEvent.findMany({ where: { tenantId, causeEventId: { in: causes } } });
    found.push(...events);
    causes = events.map((event) => event.id);
  }
  return found;
}

/** Undos by the id of the event that they revert. */
export type Undos = ReadonlyMap<string, readonly MemoryEvent[]>;

/** Loads all undos of events, of these undos, and so on. */
export async function loadUndos({ memoryEvent }: Transaction, events: readonly MemoryEvent[]): Promise<Undos> {
  const undos = new Map<string, MemoryEvent[]>();
  const tenantId = events[0]?.tenantId ?? '';
  for (let reverted = events.map(({ id }) => id); reverted.length > 0;) {
    const found = await memoryEvent.findMany({ where: { tenantId, revertsEventId: { in: reverted } } });
    for (const undo of found) {
      const eventId = undo.revertsEventId ?? '';
      undos.set(eventId, [...(undos.get(eventId) ?? []), undo]);
    }
    reverted = found.map(({ id }) => id);
  }
  return undos;
}

/** Returns the undo by which an event is undone at present, if any: an undo that is itself undone does not count. */
export function findUndoInEffect(undos: Undos, eventId: string): MemoryEvent | null {
  return undos.get(eventId)?.find((undo) => findUndoInEffect(undos, undo.id) === null) ?? null;
}

/** What an event amounts to: the first event of its chain of undos, made or taken back. */
export interface Deed {
  first: MemoryEvent;
  /** True for the first event itself and for the undo of its undo; false for its undo. */
  isMade: boolean;
}

/** Follows a chain of undos back to the event that it began with. */
export async function traceDeed(transaction: Transaction, event: MemoryEvent): Promise<Deed> {
  const { tenantId, revertsEventId } = event;
  if (revertsEventId === null) return { first: event, isMade: true };
  const where = { tenantId_id: { tenantId, id: revertsEventId } };
  const reverted = await traceDeed(transaction, await transaction.memoryEvent.findUniqueOrThrow({ where }));
  return { first: reverted.first, isMade: !reverted.isMade };
}

/** Returns the error for an event that cannot be undone because of a later change, which it names. */
export async function changedSince(
  { transaction, tenantId }: Mutation,
  { id, entityType, entityId, sequence }: MemoryEvent,
  what: string,
): Promise<MemoryError> {
  const later = await transaction.memoryEvent.findFirst({
    where: { tenantId, entityType, entityId, sequence: { gt: sequence } },
    orderBy: { sequence: 'desc' },
  });
  const by = later === null ? '' : `, last by event ${later.id} (${later.eventType})`;
  return new MemoryError(
    'CONFLICT',
    `event ${id} cannot be undone: ${what} of ${entityType} ${entityId} was changed since${by}`,
    { hint: later === null ? 'Store it anew.' : `Undo event ${later.id} first.` },
  );
}
