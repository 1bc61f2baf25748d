import { lockUndo } from '../../db/queries/past-states.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryEvent } from '../../generated/prisma/client.ts';
import { asStored } from '../../redaction/redactor.ts';
import { nameActor, type MemoryContext } from '../context.ts';
import { embedOne, type EmbeddedText } from '../embed.ts';
import { lockFactKeys } from '../../db/queries/facts.ts';
import { textToFind, type HiddenSpans } from '../forgetting/hidden-spans.ts';
import { mutateOnce } from '../idempotency.ts';
import { notFound } from '../memories.ts';
import { mapWritten, type Written } from '../mutation.ts';
import { authorize, authorizeTarget } from '../permissions.ts';
import { checkUuid } from '../values.ts';
import { findUndoInEffect, listConsequences, loadUndos } from './event-graph.ts';
import { isMasking, revert, revertHidden } from './revert.ts';
import { readPayload } from './snapshots.ts';

export interface UndoInput {
  eventId: string;
  idempotencyKey?: string | null | undefined;
}

/**
 * Reverts what an event and its consequences did, and records that as an event, which can be undone in turn. Reverts only
 * what is still as the event left it: a later change is never overwritten, and the error names it.
 */
export async function undoEvent(
  context: MemoryContext,
  { eventId, idempotencyKey }: UndoInput,
): Promise<Written<MemoryEvent>> {
  authorize(context, 'mutation undo');
  const { tenantId } = context.principal;
  const root = await getRoot(context, checkUuid('event_id', eventId));
  const isOwn = root.actor === nameActor(context);
  authorizeTarget(context, 'mutation undo', { name: `event ${root.id} of ${root.actor}`, isOwn });
  refuseErasure(root);
  refuseReviewAlone(root);
  const vectors = await embedRestoredTexts(context, root);
  const input = { eventId: root.id };
  const written = await mutateOnce(context, { operation: 'undo', idempotencyKey, input }, async (mutation) => {
    const { transaction } = mutation;
    await lockUndo(transaction, root.id);
    const events = [root, ...(await listConsequences(transaction, root))];
    const undos = await loadUndos(transaction, events);
    refuseSecondUndo(root, findUndoInEffect(undos, root.id));
    if (isMasking(root) && !vectors.has(root.id)) throw notFound({ type: 'episode', id: root.entityId });
    const effects = events.filter(
      (event) => !isEpisodeOfRun(root, event) && findUndoInEffect(undos, event.id) === null,
    );
    for (const event of effects) refuseErased(event);
    const facts = effects.filter(({ entityType }) => entityType === 'fact');
    await lockFactKeys(mutation.transaction, { factIds: facts.map(({ entityId }) => entityId) });
    for (const event of effects.toSorted((a, b) => (a.sequence < b.sequence ? 1 : -1))) {
      await revert(event.id === root.id ? mutation : mutation.consequence, event, vectors.get(event.id));
    }
    return mutation.eventId;
  });
  return mapWritten(written, (id) =>
    context.db.client.memoryEvent.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } }),
  );
}

/**
 * Returns the event to undo: for a superseded fact or rule, the storing of its successor. The superseded one only comes
 * back when the successor goes, because a key has one live fact.
 */
async function getRoot(context: MemoryContext, id: string): Promise<MemoryEvent & { cause?: MemoryEvent | null }> {
  const { tenantId } = context.principal;
  const event = await context.db.client.memoryEvent.findUnique({
    where: { tenantId_id: { tenantId, id } },
    include: { cause: true },
  });
  if (event === null) throw new MemoryError('NOT_FOUND', `event ${id} is not there`);
  return event.eventType.endsWith('.superseded') && event.cause !== null ? event.cause : event;
}

/** Embeds the texts that come back before the transaction begins, so that the model never holds a connection. */
async function embedRestoredTexts(context: MemoryContext, root: MemoryEvent): Promise<Map<string, EmbeddedText>> {
  const consequences = await context.db.transaction((transaction) => listConsequences(transaction, root));
  const vectors = new Map<string, EmbeddedText>();
  for (const event of [root, ...consequences]) {
    const { before, after } = readPayload(event);
    if (before === null || after === null) continue;
    if (isMasking(event)) {
      const shown = await embedShown(context, event.entityId, before['hidden_spans'], after['hidden_spans']);
      if (shown !== null) vectors.set(event.id, shown);
    }
    if (before['content'] === after['content']) continue;
    vectors.set(event.id, await embedOne(context, asStored(before['content'] as string)));
  }
  return vectors;
}

/** Embeds what of an episode is shown after an undo; null when it is gone. */
async function embedShown(
  context: MemoryContext,
  id: string,
  before: unknown,
  after: unknown,
): Promise<EmbeddedText | null> {
  const { tenantId } = context.principal;
  const row = await context.db.client.episode.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (row === null) return null;
  const hidden = revertHidden(before, after, row.hiddenSpans) as HiddenSpans;
  return embedOne(context, asStored(textToFind(row.content, hidden)));
}

/** An undone run took place all the same: its episodes are consolidated again only when they are requeued. */
function isEpisodeOfRun(root: MemoryEvent, { entityType }: MemoryEvent): boolean {
  return root.entityType === 'consolidation_run' && entityType === 'episode';
}

function refuseSecondUndo(event: MemoryEvent, undo: MemoryEvent | null): void {
  if (undo === null) return;
  throw new MemoryError('CONFLICT', `event ${event.id} is undone already, by event ${undo.id}`, {
    hint: `Undo event ${undo.id} to have it back.`,
  });
}

/**
 * Throws for a review that was opened or closed by what became of its facts: without the cause, the list would lose a
 * question that is still there, or ask one about a fact that is gone.
 */
function refuseReviewAlone({
  id,
  eventType,
  entityType,
  entityId,
  cause,
}: MemoryEvent & { cause?: MemoryEvent | null }): void {
  if (entityType !== 'review' || cause == null) return;
  throw new MemoryError(
    'INVALID_TRANSITION',
    `event ${id} (${eventType}) followed from event ${cause.id} (${cause.eventType}), and cannot be undone alone`,
    { hint: `Settle review ${entityId}, or undo event ${cause.id}.` },
  );
}

/** Throws for an event of an erasure or of its consequences: erasure is permanent. */
function refuseErasure(event: MemoryEvent & { cause?: MemoryEvent | null }): void {
  const erasure = [event, event.cause].find((one) => one?.eventType.endsWith('.erased'));
  if (erasure == null) return;
  throw new MemoryError(
    'INVALID_TRANSITION',
    `event ${event.id} (${event.eventType}) belongs to the erasure of ${erasure.entityType} ${erasure.entityId}, and cannot be undone`,
    { hint: 'Nothing of it is left. Store it anew if it is needed.' },
  );
}

/** Throws for an event whose payload was erased: there is no state to restore. */
function refuseErased(event: MemoryEvent): void {
  if (isMasking(event)) return;
  const { id, eventType, entityType, entityId, payload } = event;
  const { erased } = payload as { erased?: string };
  if (erased === undefined || entityType === 'consolidation_run') return;
  throw new MemoryError(
    'INVALID_TRANSITION',
    `event ${id} (${eventType}) cannot be undone: ${entityType} ${entityId} was erased, by erasure ${erased}`,
    { hint: 'Nothing of it is left. Store it anew if it is needed.' },
  );
}
