import { v7 as uuidv7 } from 'uuid';
import {
  deleteErased,
  eraseEvents,
  eraseFromKeys,
  eraseFromReceipts,
  eraseFromRuns,
  listBridges,
  listIds,
  lockMemories,
  type Erased,
} from '../../db/queries/erasure.ts';
import { lockFactKeys } from '../../db/queries/facts.ts';
import type { Erasure } from '../../generated/prisma/client.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import { nameActor, type MemoryContext } from '../context.ts';
import { recordEvents, type EventInput } from '../events.ts';
import { createLink, removeLink, type MemoryReference } from '../links/links.ts';
import { changeMemory, mapWritten, mutate, type Mutation, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { normaliseName } from '../text.ts';
import { checkUuid } from '../values.ts';
import {
  findTraces,
  planMemoryErasure,
  planSubjectErasure,
  whereLinks,
  type EraseMemoryInput,
  type ErasureCounts,
  type SubjectInput,
  type Traces,
} from './plan-erasure.ts';

export type { Erasure };

/** Permanently erases a memory. Its events stay without their payloads, so that the audit chain stays whole. */
export async function eraseMemory(context: MemoryContext, input: EraseMemoryInput): Promise<Written<Erasure>> {
  authorize(context, 'mutation eraseMemory');
  const plan = await planMemoryErasure(context, input);
  const id = checkUuid('id', input.id);
  if (input.confirm.trim().toLowerCase() !== id) {
    throw invalidInput('confirm', `the id once more, ${id}: what is erased cannot be brought back`, input.confirm);
  }
  return erase(context, plan.memories, []);
}

/** Permanently erases all facts about a subject, and the memories that mention it if they are asked for. */
export async function eraseSubject(
  context: MemoryContext,
  input: SubjectInput & { confirm: string },
): Promise<Written<Erasure>> {
  authorize(context, 'mutation eraseSubject');
  const plan = await planSubjectErasure(context, input);
  if (input.confirm.trim().toLowerCase() !== plan.confirmation) {
    throw new MemoryError(
      'INVALID_INPUT',
      'confirm: the confirmation of a dry run of the same erasure, and of nothing stored or erased since',
      { hint: 'Make a dry run, look at what it lists, and give its confirmation.' },
    );
  }
  if (plan.memories.length === 0) throw new MemoryError('NOT_FOUND', 'nothing is known about the subject');
  return erase(context, plan.memories, [normaliseName('subject', input.subject)]);
}

async function erase(
  context: MemoryContext,
  memories: readonly MemoryReference[],
  texts: readonly string[],
): Promise<Written<Erasure>> {
  const { tenantId } = context.principal;
  const id = uuidv7();
  const written = await mutate(context, async (mutation) => {
    const { transaction } = mutation;
    await lockFactKeys(transaction, { factIds: listIds(memories, 'fact') });
    await lockMemories(transaction, memories);
    const runIds = await eraseFromRuns(transaction, memories);
    const traces = await findTraces(context, transaction, memories, { texts, runIds });
    await bridgeChains(mutation, memories);
    const links = await removeLinks(mutation, memories);
    const applications = await deleteErased(transaction, memories, mutation.now);
    const counts = { memories: memories.length, links, applications, runs: runIds.length };
    await eraseTraces(mutation, memories, { id, traces, counts });
  });
  return mapWritten(written, () =>
    context.db.client.erasure.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } }),
  );
}

/** Links facts that superseded erased ones to the fact before those, so that the chain of supersession stays whole. */
async function bridgeChains({ consequence }: Mutation, erased: Erased): Promise<void> {
  const { transaction } = consequence;
  for (const { id, before } of await listBridges(transaction, erased)) {
    await changeMemory(consequence, { type: 'fact', id }, 'fact.bridged', { supersedesId: before });
    if (before === null) continue;
    await createLink(consequence, {
      source: { type: 'fact', id },
      target: { type: 'fact', id: before },
      relation: 'supersedes',
    });
  }
}

async function removeLinks({ consequence }: Mutation, erased: Erased): Promise<number> {
  const where = whereLinks(consequence.tenantId, erased);
  const links = await consequence.transaction.memoryLink.findMany({ where });
  for (const link of links) await removeLink(consequence, link);
  return links.length;
}

interface ErasureUnderWay {
  id: string;
  traces: Traces;
  counts: Omit<ErasureCounts, 'events' | 'receipts' | 'idempotencyKeys'>;
}

/** Blanks receipts, idempotency keys and events, stores the receipt of the erasure, and records its events. */
async function eraseTraces(mutation: Mutation, erased: Erased, { id, traces, counts }: ErasureUnderWay): Promise<void> {
  const { transaction, context, now } = mutation;
  const { eventIds } = traces;
  const receipts = await eraseFromReceipts(transaction, erased, traces.receiptIds);
  const idempotencyKeys = await eraseFromKeys(transaction, traces.answers, id);
  const memories = erased.map((memory) => ({ type: memory.type, id: memory.id }));
  const receipt = {
    id,
    at: now,
    actor: nameActor(context),
    requestId: context.requestContext.requestId,
    memories,
    counts: { ...counts, events: eventIds.length, receipts, idempotencyKeys } satisfies ErasureCounts,
  };
  const hash = await eraseEvents(transaction, receipt, eventIds);
  await recordErasure(mutation, erased, { id, hash });
}

/** Records one event for each memory, with which its history ends; the first is the event of the caller. */
async function recordErasure(
  mutation: Mutation,
  memories: Erased,
  erasure: { id: string; hash: string },
): Promise<void> {
  const [first, ...others] = memories.map(({ type, id }): EventInput => ({
    eventType: `${type}.erased`,
    entityType: type,
    entityId: id,
    details: { erasure },
  }));
  if (first !== undefined) await mutation.record(first);
  if (others.length === 0) return;
  const { context, transaction, eventId: causeEventId } = mutation;
  await recordEvents(
    context,
    transaction,
    others.map((event) => ({ ...event, causeEventId })),
  );
}
