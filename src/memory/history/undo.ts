import { selectRunSnapshot } from '../../db/sql/consolidation-run-snapshot.ts';
import type { Transaction } from '../../db/database.ts';
import { setEmbedding } from '../../db/sql/set-embedding.ts';
import { lockEvent } from '../../db/sql/lock-event.ts';
import { writeSnapshotColumns } from '../../db/sql/write-snapshot-columns.ts';
import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryEvent, MemoryLink } from '../../generated/prisma/client.ts';
import { asStored, type RedactionCounts, type TextCut } from '../../redaction/redactor.ts';
import { actorOf, type MemoryContext } from '../context.ts';
import { embedOne, vectorsOfOne, type EmbeddedText } from '../embed.ts';
import { useActiveKey } from '../data-keys.ts';
import { isLive, lockKeysOf } from '../facts/facts.ts';
import { mutateOnce } from '../idempotency.ts';
import { insertLink, removeLink, requireMemory } from '../links/links.ts';
import { refuseSecondLiveFact } from '../memories.ts';
import { readSnapshot, type Mutation, type Snapshot } from '../mutation.ts';
import { authorize, authorizeTarget } from '../permissions.ts';
import { effectiveness } from '../rules/rule-maturity.ts';
import { openSnapshot, sealedColumns } from '../sealing.ts';
import { checkUuid } from '../values.ts';

export interface UndoInput {
  eventId: string;
  idempotencyKey?: string | null | undefined;
}

/**
 * Takes back what an event did, and what followed from it, by an event of its own that can be undone in turn. Only what
 * is still as the event left it is taken back: whoever changed it later is not overruled, and is named instead.
 */
export async function undoEvent(context: MemoryContext, { eventId, idempotencyKey }: UndoInput): Promise<MemoryEvent> {
  authorize(context, 'mutation undo');
  const { tenantId } = context.principal;
  const root = await findRoot(context, checkUuid('event_id', eventId));
  const isOwn = root.actor === actorOf(context);
  authorizeTarget(context, 'mutation undo', { name: `event ${root.id} of ${root.actor}`, isOwn });
  refuseErasure(root);
  const vectors = await prepareVectors(context, root);
  const input = { eventId: root.id };
  const id = await mutateOnce(context, { operation: 'undo', idempotencyKey, input }, async (mutation) => {
    await mutation.transaction.$queryRaw(lockEvent(tenantId, root.id));
    await refuseSecondUndo(mutation, root);
    const effects = await effectsOf(mutation, root);
    for (const event of effects) refuseErased(event);
    const facts = effects.filter(({ entityType }) => entityType === 'fact');
    await lockKeysOf(
      mutation,
      facts.map(({ entityId }) => entityId),
    );
    for (const event of effects.toReversed()) {
      await revert(event.id === root.id ? mutation : mutation.consequence, event, vectors.get(event.id));
    }
    return mutation.eventId;
  });
  return context.db.client.memoryEvent.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
}

/** What an erasure did, and what followed from it, is there for good. */
function refuseErasure(event: MemoryEvent & { cause?: MemoryEvent | null }): void {
  const [doing] = [event, event.cause].filter((one) => one?.eventType.endsWith('.erased'));
  if (doing == null) return;
  throw new MemoryError(
    'INVALID_TRANSITION',
    `event ${event.id} (${event.eventType}) belongs to the erasure of ${doing.entityType} ${doing.entityId}, and cannot be undone`,
    { hint: 'Nothing of it is left. Store it anew if it is needed.' },
  );
}

/** A fact is superseded by the storing of another, and comes back only when that one goes: there is one live fact a key. */
async function findRoot(context: MemoryContext, id: string): Promise<MemoryEvent> {
  const { tenantId } = context.principal;
  const event = await context.db.client.memoryEvent.findUnique({
    where: { tenantId_id: { tenantId, id } },
    include: { cause: true },
  });
  if (event === null) throw new MemoryError('NOT_FOUND', `event ${id} is not there`);
  return event.eventType === 'fact.superseded' && event.cause !== null ? event.cause : event;
}

/** Of texts that come back, made before the transaction because the model must not hold a connection. */
async function prepareVectors(context: MemoryContext, root: MemoryEvent): Promise<Map<string, EmbeddedText>> {
  const consequences = await context.db.transaction((transaction) => findConsequences(transaction, root));
  const vectors = new Map<string, EmbeddedText>();
  for (const event of [root, ...consequences]) {
    const { before, after } = payloadOf(event);
    if (before === null || after === null || before['content'] === after['content']) continue;
    vectors.set(event.id, await embedOne(context, asStored(before['content'] as string)));
  }
  return vectors;
}

async function refuseSecondUndo({ transaction, tenantId }: Mutation, event: MemoryEvent): Promise<void> {
  const undo = await findEffectiveUndo(transaction, tenantId, event.id);
  if (undo === null) return;
  throw new MemoryError('CONFLICT', `event ${event.id} is undone already, by event ${undo.id}`, {
    hint: `Undo event ${undo.id} to have it back.`,
  });
}

/** The undo of an event that was not itself undone. */
async function findEffectiveUndo(transaction: Transaction, tenantId: string, id: string): Promise<MemoryEvent | null> {
  const undos = await transaction.memoryEvent.findMany({ where: { tenantId, revertsEventId: id } });
  for (const undo of undos) {
    if ((await findEffectiveUndo(transaction, tenantId, undo.id)) === null) return undo;
  }
  return null;
}

/** The event and its consequences, but for those that were undone by themselves; in the order in which they happened. */
async function effectsOf({ transaction, tenantId }: Mutation, root: MemoryEvent): Promise<MemoryEvent[]> {
  const consequences = await findConsequences(transaction, root);
  const events = [root, ...consequences].toSorted((a, b) => (a.sequence < b.sequence ? -1 : 1));
  const effects: MemoryEvent[] = [];
  for (const event of events) {
    if (isRun(root) && isStateOfEpisode(event)) continue;
    if ((await findEffectiveUndo(transaction, tenantId, event.id)) === null) effects.push(event);
  }
  return effects;
}

/** What followed from an event, and what followed from that: the memories of a run, and the links of each. */
async function findConsequences(transaction: Transaction, { tenantId, id }: MemoryEvent): Promise<MemoryEvent[]> {
  const found: MemoryEvent[] = [];
  for (let causes = [id]; causes.length > 0;) {
    const events = await transaction.memoryEvent.findMany({ where: { tenantId, causeEventId: { in: causes } } });
    found.push(...events);
    causes = events.map((event) => event.id);
  }
  return found;
}

function isRun({ entityType }: MemoryEvent): boolean {
  return entityType === 'consolidation_run';
}

function isUndoableRun(event: MemoryEvent): boolean {
  return isRun(event) && ['consolidation_run.succeeded', 'consolidation_run.undone'].includes(event.eventType);
}

/** What a run stored is taken back event by event; of the run itself there is nothing to change. */
async function recordUndoneRun(mutation: Mutation, { id, entityId }: MemoryEvent): Promise<void> {
  const { transaction, tenantId } = mutation;
  const [row] = await transaction.$queryRaw<{ snapshot: Snapshot }[]>(selectRunSnapshot(tenantId, entityId));
  if (row === undefined) throw new MemoryError('NOT_FOUND', `consolidation run ${entityId} is not there`);
  await mutation.record({
    eventType: 'consolidation_run.undone',
    entityType: 'consolidation_run',
    entityId,
    revertsEventId: id,
    before: row.snapshot,
    after: row.snapshot,
  });
}

/** An undone run took place all the same: its episodes are consolidated anew only if they are requeued. */
function isStateOfEpisode({ entityType }: MemoryEvent): boolean {
  return entityType === 'episode';
}

async function revert(mutation: Mutation, event: MemoryEvent, embedding: EmbeddedText | undefined): Promise<void> {
  if (event.entityType === 'link') return revertLink(mutation, event);
  if (isUndoableRun(event)) return recordUndoneRun(mutation, event);
  if (!memoryTypes.some((type) => type === event.entityType)) {
    throw new MemoryError(
      'INVALID_TRANSITION',
      `event ${event.id} is ${event.eventType}: only changes of memories and links, and consolidation runs that succeeded, can be undone`,
    );
  }
  const target = { type: event.entityType as MemoryType, id: event.entityId };
  if (payloadOf(event).after === null) throw removedForGood(event);
  const { transaction, tenantId, context } = mutation;
  const before = await readSnapshot(mutation, target, true);
  const restored = await valuesToRestore(mutation, event, await openSnapshot(context, before, transaction));
  const values = {
    ...(await valuesToWrite(mutation, before, restored)),
    ...(target.type === 'rule' && (await revertApplications(mutation, event))),
  };
  if (Object.keys(values).length === 0) throw await changedSince(mutation, event, 'all that it did');
  if (target.type === 'fact' && isLive(values['validity']) && !isLive(before['validity'])) {
    await refuseSecondLiveFact(mutation, target.id);
  }
  const version = (before['version'] as number) + 1;
  await transaction.$executeRaw(writeSnapshotColumns(target.type, { tenantId, id: target.id }, { ...values, version }));
  if (embedding !== undefined) {
    const vectors = await vectorsOfOne(context, transaction, embedding);
    await transaction.$executeRaw(setEmbedding(target.type, { tenantId, id: target.id }, vectors));
  }
  const after = await readSnapshot(mutation, target, false);
  await mutation.record({
    eventType: `${target.type}.undone`,
    entityType: target.type,
    entityId: target.id,
    revertsEventId: event.id,
    before,
    after,
  });
}

/** Its payload is gone: there is nothing to go back to. */
function refuseErased({ id, eventType, entityType, entityId, payload }: MemoryEvent): void {
  const { erased } = payload as { erased?: string };
  if (erased === undefined || entityType === 'consolidation_run') return;
  throw new MemoryError(
    'INVALID_TRANSITION',
    `event ${id} (${eventType}) cannot be undone: ${entityType} ${entityId} was erased, by erasure ${erased}`,
    { hint: 'Nothing of it is left. Store it anew if it is needed.' },
  );
}

async function revertLink(mutation: Mutation, event: MemoryEvent): Promise<void> {
  const { before, after } = payloadOf(event);
  const { createdAt, ...link } = (after ?? before) as unknown as MemoryLink;
  const row = { ...link, createdAt: new Date(createdAt) };
  if (after === null) await requireEnds(mutation, row);
  const isDone = after === null ? await insertLink(mutation, row, event.id) : await removeLink(mutation, row, event.id);
  if (!isDone) {
    throw new MemoryError(
      'CONFLICT',
      `event ${event.id}: the link that it ${after === null ? 'removed' : 'made'} was changed since`,
    );
  }
}

/** One of them may have been erased since. */
async function requireEnds(mutation: Mutation, link: MemoryLink): Promise<void> {
  await requireMemory(mutation, 'source', { type: link.sourceType as MemoryType, id: link.sourceId });
  await requireMemory(mutation, 'target', { type: link.targetType as MemoryType, id: link.targetId });
}

/**
 * The judgement of an undone mark counts no more, and those that an undone event retired count again. Gives the counters
 * that follow, or nothing when no judgement is concerned.
 */
async function revertApplications(mutation: Mutation, event: MemoryEvent): Promise<Snapshot> {
  const { transaction, tenantId, eventId } = mutation;
  const { count: revived } = await transaction.ruleApplication.updateMany({
    where: { tenantId, retiredByEventId: event.id },
    data: { retiredByEventId: null },
  });
  const { origin, isDone } = await findOrigin(mutation, event);
  const ids = await applicationsToRetire(mutation, origin, isDone);
  const { count: retired } = await transaction.ruleApplication.updateMany({
    where: { tenantId, id: { in: ids }, retiredByEventId: null },
    data: { retiredByEventId: eventId },
  });
  if (isMark(origin) && revived + retired === 0) throw await changedSince(mutation, event, 'the judgement');
  return revived + retired === 0 ? {} : countApplications(mutation, event.entityId);
}

/** What was done at first, when an undo is undone and so on; and whether this event did it or took it back. */
async function findOrigin(
  { transaction, tenantId }: Mutation,
  event: MemoryEvent,
): Promise<{ origin: MemoryEvent; isDone: boolean }> {
  let [origin, isDone] = [event, true];
  while (origin.revertsEventId !== null) {
    const where = { tenantId_id: { tenantId, id: origin.revertsEventId } };
    [origin, isDone] = [await transaction.memoryEvent.findUniqueOrThrow({ where }), !isDone];
  }
  return { origin, isDone };
}

/** A mark that was made brought one; an edit that was taken back brought those of the text before it. */
async function applicationsToRetire(
  { transaction, tenantId }: Mutation,
  origin: MemoryEvent,
  isDone: boolean,
): Promise<string[]> {
  if (isMark(origin)) return isDone ? [origin.id] : [];
  if (origin.eventType !== 'rule.edited' || isDone) return [];
  const { entityType, entityId, sequence } = origin;
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

/** Counted anew and not reckoned from the event: others may have been made and retired since. */
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

/** Put back if nobody touched them since, and left alone if somebody did. */
const moments = ['last_confirmed_at', 'last_applied_at', 'last_evaluated_at'];

/** Follow from the applications that count, or count changes. */
const derived = ['applied_count', 'success_count', 'harmful_count', 'effectiveness_score', 'version'];

async function valuesToRestore(mutation: Mutation, event: MemoryEvent, current: Snapshot): Promise<Snapshot> {
  const { before, after } = await openPayload(mutation, event);
  if (before === null) return valuesOfRemoval(mutation, event, current);
  if (after === null) throw removedForGood(event);
  const values: Snapshot = {};
  for (const name of Object.keys(after).filter((column) => !isSame(before[column], after[column]))) {
    if (derived.includes(name)) continue;
    if (isSame(current[name], after[name])) values[name] = before[name] ?? null;
    else if (!moments.includes(name)) throw await changedSince(mutation, event, name);
  }
  return values;
}

/** In plain: whether a key was changed meanwhile makes no difference to what was said. */
async function openPayload(
  { context, transaction }: Mutation,
  event: MemoryEvent,
): Promise<Omit<EventPayload, 'redacted' | 'cut'>> {
  const { before, after } = payloadOf(event);
  return {
    before: before && (await openSnapshot(context, before, transaction)),
    after: after && (await openSnapshot(context, after, transaction)),
  };
}

/** The columns of a sealed fact in which what comes back is sealed again. */
async function valuesToWrite(mutation: Mutation, current: Snapshot, values: Snapshot): Promise<Snapshot> {
  const { context, transaction } = mutation;
  const isConcerned = ['content', 'tags', 'metadata'].some((name) => name in values);
  if (!isConcerned || (current['data_key_id'] ?? null) === null) return values;
  const said = { ...(await openSnapshot(context, current, transaction)), ...values };
  const { content, tags, metadata } = said as unknown as { content: string; tags: unknown; metadata: unknown };
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

/** Its event has nothing of what the memory said, and its row is gone. */
function removedForGood({ id, eventType, entityType, entityId }: MemoryEvent): MemoryError {
  return new MemoryError(
    'INVALID_TRANSITION',
    `event ${id} (${eventType}) removed ${entityType} ${entityId} for good, and cannot be undone`,
    { hint: 'Its tombstone and its history are left. Store it anew if it is needed.' },
  );
}

/** Undoing the storing of a memory forgets it: nothing is ever deleted by an undo. */
async function valuesOfRemoval(mutation: Mutation, event: MemoryEvent, current: Snapshot): Promise<Snapshot> {
  const isGone = event.entityType === 'episode' ? current['forgotten_at'] !== null : !isLive(current['validity']);
  if (isGone) throw await changedSince(mutation, event, event.entityType === 'episode' ? 'forgotten_at' : 'validity');
  const forgottenAt = mutation.now.toISOString();
  if (event.entityType === 'fact') return { validity: 'retracted', supersedes_id: null };
  return event.entityType === 'rule'
    ? { validity: 'retracted', forgotten_at: forgottenAt }
    : { forgotten_at: forgottenAt };
}

async function changedSince(
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
    {
      hint: later === null ? 'Store it anew.' : `Undo event ${later.id} first.`,
    },
  );
}

interface EventPayload {
  before: Snapshot | null;
  after: Snapshot | null;
  /** How many of each kind were taken out of what was given. */
  redacted: RedactionCounts | null;
  /** The texts that were too long to be kept whole. */
  cut: readonly TextCut[];
}

export function payloadOf({ payload }: Pick<MemoryEvent, 'payload'>): EventPayload {
  const { before = null, after = null, redacted = null, cut = [] } = payload as unknown as Partial<EventPayload>;
  return { before, after, redacted, cut };
}

/** Both come from the database, which orders the keys of an object itself. */
function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left ?? null) === JSON.stringify(right ?? null);
}
