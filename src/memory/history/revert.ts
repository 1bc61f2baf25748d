import { lockRun } from '../../db/queries/consolidation-runs.ts';
import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryEvent, MemoryLink, Prisma } from '../../generated/prisma/client.ts';
import { asStored } from '../../redaction/redactor.ts';
import { embedOne, type EmbeddedText } from '../embed.ts';
import { textToFind, type HiddenSpans } from '../forgetting/hidden-spans.ts';
import { useActiveKey } from '../../encryption/data-keys.ts';
import { isLive } from '../facts/fact-values.ts';
import { insertLink, removeLink, requireMemory } from '../links/links.ts';
import { refuseSecondLiveFact } from '../forgetting/forget.ts';
import { lockSnapshot, type Snapshot } from '../../db/queries/snapshots.ts';
import { changeMemory, type Mutation } from '../mutation.ts';
import { openSnapshot, sealedColumns } from '../../encryption/sealing.ts';
import { settleReviewsOf } from '../reviews/reviews.ts';
import { changedSince } from './event-graph.ts';
import { revertQuarantined } from '../quarantine/quarantine.ts';
import { revertReview } from './revert-review.ts';
import { revertApplications } from './revert-applications.ts';
import { readPayload } from './snapshots.ts';

/** Reverts one event and records that. The embedding is that of the text that comes back, where one does. */
export async function revert(
  mutation: Mutation,
  event: MemoryEvent,
  embedding: EmbeddedText | undefined,
): Promise<void> {
  if (event.entityType === 'link') return revertLink(mutation, event);
  if (event.entityType === 'review') return revertReview(mutation, event);
  if (event.entityType === 'quarantined_item') return revertQuarantined(mutation, event);
  if (['consolidation_run.succeeded', 'consolidation_run.undone'].includes(event.eventType)) {
    return recordUndoneRun(mutation, event);
  }
  const type = memoryTypes.find((one) => one === event.entityType);
  if (type !== undefined) return revertMemory(mutation, type, event, embedding);
  throw new MemoryError(
    'INVALID_TRANSITION',
    `event ${event.id} is ${event.eventType}: only changes of memories, links and reviews, and consolidation runs that succeeded, can be undone`,
  );
}

async function revertLink(mutation: Mutation, event: MemoryEvent): Promise<void> {
  const { before, after } = readPayload(event);
  // An event from before links had spans names none.
  const kept = (after ?? before) as unknown as Omit<MemoryLink, 'spans'> & Partial<Pick<MemoryLink, 'spans'>>;
  const { createdAt, spans = [], ...link } = kept;
  const row = { ...link, spans, createdAt: new Date(createdAt) };
  if (after === null) await requireEnds(mutation, row);
  const isDone = after === null ? await insertLink(mutation, row, event.id) : await removeLink(mutation, row, event.id);
  if (isDone) return;
  throw new MemoryError(
    'CONFLICT',
    `event ${event.id}: the link that it ${after === null ? 'removed' : 'made'} was changed since`,
  );
}

/** Throws when an end of the link was erased since. */
async function requireEnds(mutation: Mutation, link: MemoryLink): Promise<void> {
  await requireMemory(mutation, 'source', { type: link.sourceType as MemoryType, id: link.sourceId });
  await requireMemory(mutation, 'target', { type: link.targetType as MemoryType, id: link.targetId });
}

/** Changes nothing in the run itself: what it stored is reverted event by event. */
async function recordUndoneRun(mutation: Mutation, { id, entityId }: MemoryEvent): Promise<void> {
  const run = await lockRun(mutation.transaction, entityId);
  if (run === null) throw new MemoryError('NOT_FOUND', `consolidation run ${entityId} is not there`);
  await mutation.record({
    eventType: 'consolidation_run.undone',
    entityType: 'consolidation_run',
    entityId,
    revertsEventId: id,
    before: run.snapshot,
    after: run.snapshot,
  });
}

async function revertMemory(
  mutation: Mutation,
  type: MemoryType,
  event: MemoryEvent,
  embedding: EmbeddedText | undefined,
): Promise<void> {
  if (readPayload(event).after === null) throw removedForGood(event);
  const { transaction, context } = mutation;
  const id = event.entityId;
  const before = await lockSnapshot(transaction, { type, id });
  // Of an episode that is gone, nothing is left to show or hide.
  if (before === null && isMasking(event)) return;
  if (before === null) throw new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
  const restored = await chooseValues(mutation, event, await openSnapshot(context, before, transaction));
  const values = {
    ...(await sealValues(mutation, before, restored)),
    ...(type === 'rule' && (await revertApplications(mutation, event))),
  };
  if (Object.keys(values).length === 0) throw await changedSince(mutation, event, 'all that it did');
  if (type === 'fact' && isCurrent({ ...before, ...values }) && !isCurrent(before)) {
    await refuseSecondLiveFact(mutation, id);
  }
  const vectors = 'hidden_spans' in values ? await embedShown(mutation, before, values, embedding) : embedding;
  await changeMemory(mutation, { type, id }, `${type}.undone`, values, {
    embedding: vectors,
    revertsEventId: event.id,
  });
  if (type === 'fact' && isLive(before['validity']) && !isLive(values['validity'] ?? before['validity'])) {
    await settleReviewsOf(mutation, id);
  }
}

/** Whether a fact counts as the current one of its key, of which there is one at most. */
function isCurrent(fact: Snapshot): boolean {
  return isLive(fact['validity']) && fact['set_aside'] !== true;
}

/** Columns that are restored if nobody changed them since, and otherwise left alone. */
const timeColumns = ['last_confirmed_at', 'last_applied_at', 'last_evaluated_at'];

/** Columns that are counted anew. */
const derivedColumns = ['applied_count', 'success_count', 'harmful_count', 'effectiveness_score', 'version'];

/**
 * Chooses the columns that the event changed, with their values before it. All values are in plain text: what a fact says
 * is the same under another key.
 */
async function chooseValues(mutation: Mutation, event: MemoryEvent, current: Snapshot): Promise<Snapshot> {
  const { context, transaction } = mutation;
  const payload = readPayload(event);
  if (payload.before === null) return chooseForgotten(mutation, event, current);
  const before = await openSnapshot(context, payload.before, transaction);
  const after = await openSnapshot(context, payload.after ?? {}, transaction);
  const values: Snapshot = {};
  for (const name of Object.keys(after).filter((column) => !isSame(before[column], after[column]))) {
    // An old event may name a column that the table no longer has.
    if (derivedColumns.includes(name) || !(name in current)) continue;
    if (name === 'hidden_spans') {
      values[name] = revertHidden(before[name], after[name], current[name]);
      continue;
    }
    if (isSame(current[name], after[name])) values[name] = before[name] ?? null;
    else if (!timeColumns.includes(name)) throw await changedSince(mutation, event, name);
  }
  return values;
}

/** Whether an event hid or showed parts of an episode. */
export function isMasking({ eventType }: Pick<MemoryEvent, 'eventType'>): boolean {
  return eventType === 'episode.masked' || eventType === 'episode.unmasked';
}

/** Hides again or shows again what the event concerned, and leaves alone what others hid. */
export function revertHidden(before: unknown, after: unknown, current: unknown): Prisma.JsonObject {
  const [old, changed, hidden] = [before ?? {}, after ?? {}, current ?? {}] as Prisma.JsonObject[];
  const keys = [...new Set([...Object.keys(old ?? {}), ...Object.keys(changed ?? {})])];
  const concerned = keys.filter((key) => !isSame(old?.[key], changed?.[key]));
  const others = Object.entries(hidden ?? {}).filter(([key]) => !concerned.includes(key));
  const restored = concerned.flatMap((key) => (old?.[key] === undefined ? [] : [[key, old[key]] as const]));
  return Object.fromEntries([...others, ...restored]);
}

/** The vectors of what is shown of an episode from now on: those that were made before, unless it changed meanwhile. */
async function embedShown(
  { context }: Mutation,
  { content }: Snapshot,
  values: Snapshot,
  embedding: EmbeddedText | undefined,
): Promise<EmbeddedText> {
  const text = textToFind(content as string, values['hidden_spans'] as HiddenSpans);
  return embedding?.text === text ? embedding : embedOne(context, asStored(text));
}

/** Undoing the storing of a memory forgets it: an undo never deletes. */
async function chooseForgotten(mutation: Mutation, event: MemoryEvent, current: Snapshot): Promise<Snapshot> {
  const type = event.entityType;
  const isGone = type === 'episode' ? current['forgotten_at'] !== null : !isAsStored(event, current);
  if (isGone) throw await changedSince(mutation, event, type === 'episode' ? 'forgotten_at' : 'validity');
  if (type === 'episode') return { forgotten_at: mutation.now.toISOString() };
  if (type === 'fact') await refuseSuccessor(mutation, event);
  return { validity: 'retracted', ...(type === 'fact' && { supersedes_id: null }) };
}

/**
 * Throws when a later decision let the fact take the place of another: without both, nothing of the key would hold. What it
 * replaced when it was stored has come back by now.
 */
async function refuseSuccessor({ transaction, tenantId }: Mutation, { id, entityId }: MemoryEvent): Promise<void> {
  const ends = { sourceType: 'fact', sourceId: entityId, targetType: 'fact', relation: 'supersedes' };
  const link = await transaction.memoryLink.findFirst({ where: { tenantId, ...ends } });
  if (link === null) return;
  const decision = await transaction.memoryEvent.findFirst({
    where: { tenantId, entityType: 'fact', entityId: link.targetId, eventType: 'fact.superseded' },
    orderBy: { sequence: 'desc' },
  });
  const by = decision?.causeEventId ?? decision?.id;
  throw new MemoryError(
    'CONFLICT',
    `event ${id} cannot be undone: fact ${entityId} took the place of fact ${link.targetId} since`,
    by === undefined ? {} : { hint: `Undo event ${by} first.` },
  );
}

/** Whether a fact or rule is live, or history as which it was stored. */
function isAsStored(event: MemoryEvent, { validity }: Snapshot): boolean {
  return isLive(validity) || (validity !== 'retracted' && readPayload(event).after?.['validity'] === validity);
}

/** Seals what is restored of a sealed fact, together with its other sealed columns. */
async function sealValues(mutation: Mutation, current: Snapshot, values: Snapshot): Promise<Snapshot> {
  const { context, transaction } = mutation;
  const isConcerned = ['content', 'tags', 'metadata'].some((name) => name in values);
  if (!isConcerned || (current['data_key_id'] ?? null) === null) return values;
  const plain = { ...(await openSnapshot(context, current, transaction)), ...values };
  const { content, tags, metadata } = plain as unknown as { content: string; tags: unknown; metadata: unknown };
  const key = await useActiveKey(context, transaction);
  const sealed = sealedColumns(key, current['id'] as string, { content, tags, metadata });
  return {
    ...values,
    content: sealed.content,
    tags: sealed.tags,
    metadata: sealed.metadata,
    sealed_content: `\\x${Buffer.from(sealed.sealedContent).toString('hex')}`,
    data_key_id: sealed.dataKeyId,
  };
}

/** The row is gone, and the event of its removal keeps nothing of what it said. */
function removedForGood({ id, eventType, entityType, entityId }: MemoryEvent): MemoryError {
  return new MemoryError(
    'INVALID_TRANSITION',
    `event ${id} (${eventType}) removed ${entityType} ${entityId} for good, and cannot be undone`,
    { hint: 'Its tombstone and its history are left. Store it anew if it is needed.' },
  );
}

/** Compares two JSON values of the database, which orders the keys of an object itself. */
function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left ?? null) === JSON.stringify(right ?? null);
}
