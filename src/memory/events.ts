import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../db/database.ts';
import { insertEvents, type EventRow } from '../db/queries/events.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Omissions } from '../redaction/redactor.ts';
import { nameActor, type MemoryContext } from './context.ts';

export const entityTypes = [
  'episode',
  'fact',
  'rule',
  'link',
  'review',
  'quarantined_item',
  'embedding_version',
  'consolidation_run',
  'token',
  'tenant',
] as const;
export type EntityType = (typeof entityTypes)[number];

/** All that is ever recorded, in the order of what it is done to. */
export const eventTypes = [
  'episode.stored',
  'episode.consolidated',
  'episode.consolidation_failed',
  'episode.failed',
  'episode.dead_lettered',
  'episode.requeued',
  'episode.extended',
  'episode.expired',
  'episode.evicted',
  'episode.forgotten',
  'episode.restored',
  'episode.masked',
  'episode.unmasked',
  'episode.undone',
  'episode.erased',
  'fact.stored',
  'fact.confirmed',
  'fact.superseded',
  'fact.set_aside',
  'fact.began',
  'fact.bridged',
  'fact.promoted',
  'fact.fading',
  'fact.recovered',
  'fact.expired',
  'fact.evicted',
  'fact.retracted',
  'fact.restored',
  'fact.removed',
  'fact.undone',
  'fact.erased',
  'rule.stored',
  'rule.confirmed',
  'rule.marked_helpful',
  'rule.marked_harmful',
  'rule.promoted',
  'rule.demoted',
  'rule.inverted',
  'rule.edited',
  'rule.superseded',
  'rule.disabled',
  'rule.enabled',
  'rule.fading',
  'rule.recovered',
  'rule.expired',
  'rule.evicted',
  'rule.forgotten',
  'rule.restored',
  'rule.removed',
  'rule.undone',
  'rule.erased',
  'link.created',
  'link.removed',
  'review.opened',
  'review.settled',
  'review.undone',
  'quarantined_item.held',
  'quarantined_item.approved',
  'quarantined_item.refused',
  'quarantined_item.undone',
  'embedding_version.registered',
  'embedding_version.activated',
  'embedding_version.retired',
  'consolidation_run.claimed',
  'consolidation_run.narrowed',
  'consolidation_run.succeeded',
  'consolidation_run.failed',
  'consolidation_run.lost',
  'consolidation_run.undone',
  'token.created',
  'token.rotated',
  'token.revoked',
  'tenant.entered',
] as const;
export type EventType = (typeof eventTypes)[number];

export interface EventInput {
  id?: string;
  /** The event of the write that this one followed from. */
  causeEventId?: string;
  revertsEventId?: string;
  eventType: EventType;
  entityType: EntityType;
  entityId: string;
  before?: Prisma.InputJsonObject;
  after?: Prisma.InputJsonObject;
  /** How much was masked or cut in what the caller gave: never what. */
  omissions?: Omissions;
  /** What it keeps besides. */
  details?: Prisma.InputJsonObject;
}

/** Records what was done, in the transaction that does it: a change that commits without its event cannot be. */
export async function recordEvents(
  context: MemoryContext,
  transaction: Transaction,
  events: readonly EventInput[],
): Promise<void> {
  await insertEvents(
    transaction,
    events.map((event) => toEventRow(context, event)),
  );
}

export async function recordEvent(context: MemoryContext, transaction: Transaction, event: EventInput): Promise<void> {
  await recordEvents(context, transaction, [event]);
}

/** Completes an event with when it was, by whom and on which request. */
export function toEventRow(context: MemoryContext, event: EventInput): EventRow {
  const { principal, requestContext } = context;
  return {
    tenantId: principal.tenantId,
    id: event.id ?? uuidv7(),
    eventType: event.eventType,
    entityType: event.entityType,
    entityId: event.entityId,
    occurredAt: context.now(),
    actor: nameActor(context),
    requestId: requestContext.requestId,
    subrequestId: requestContext.subrequestId,
    segmentId: requestContext.segmentId,
    causeEventId: event.causeEventId ?? null,
    revertsEventId: event.revertsEventId ?? null,
    payload: {
      ...event.details,
      before: event.before ?? null,
      after: event.after ?? null,
      ...(event.omissions as Prisma.InputJsonObject | undefined),
    },
  };
}
