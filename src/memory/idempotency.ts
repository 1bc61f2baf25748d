import { createHash } from 'node:crypto';
import { keyedDigest } from '../encryption/data-key.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { getDataKey, useActiveKey } from './data-keys.ts';
import { mutate, type Mutation } from './mutation.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { normaliseKey } from './text.ts';

export interface IdempotentRequest {
  /** The operation, so that one key cannot stand for two different ones. */
  operation: string;
  idempotencyKey: string | null | undefined;
  input: unknown;
  /** Whether the input is not to be found out from its digest by trying: it is keyed then. */
  isSecret?: boolean | undefined;
}

/**
 * A write that may be sent twice and is done once. The key is claimed in the transaction of the write: a second caller
 * waits for the first, and then gets the first one's answer.
 */
export async function mutateOnce(
  context: MemoryContext,
  request: IdempotentRequest,
  work: (mutation: Mutation) => Promise<string>,
): Promise<string> {
  return mutate(context, (mutation) => doOnce(mutation, request, () => work(mutation)));
}

/** The same within a mutation that is under way, such as one of a batch. */
export async function doOnce(
  mutation: Mutation,
  { operation, idempotencyKey, input, isSecret = false }: IdempotentRequest,
  work: () => Promise<string>,
): Promise<string> {
  if (idempotencyKey === null || idempotencyKey === undefined) return work();
  const { context, transaction, tenantId, now, eventId } = mutation;
  const key = normaliseKey(createRedactor(context), 'idempotency_key', idempotencyKey);
  const inputDigest = await digestInput(mutation, input, isSecret);
  const claim: Prisma.IdempotencyKeyCreateManyInput = {
    tenantId,
    key,
    operation,
    inputDigest,
    response: {},
    createdAt: now,
  };
  const { count } = await transaction.idempotencyKey.createMany({ data: [claim], skipDuplicates: true });
  if (count === 0) return earlierAnswer(mutation, { key, operation, input });
  const id = await work();
  const response = { id, eventId } satisfies KeptAnswer;
  await transaction.idempotencyKey.update({ where: { tenantId_key: { tenantId, key } }, data: { response } });
  return id;
}

interface KeptAnswer {
  id: string;
  /** Of the event that the write was to record. One that found nothing to change has recorded none. */
  eventId: string;
}

async function earlierAnswer(
  mutation: Mutation,
  { key, operation, input }: { key: string; operation: string; input: unknown },
): Promise<string> {
  const { transaction, tenantId } = mutation;
  const earlier = await transaction.idempotencyKey.findUniqueOrThrow({ where: { tenantId_key: { tenantId, key } } });
  if ('erased' in (earlier.response as object)) {
    throw new MemoryError('CONFLICT', `idempotency_key: what was done under ${JSON.stringify(key)} was erased since`, {
      hint: 'Choose a new key if it is to be stored anew.',
    });
  }
  if (earlier.operation !== operation || !(await isDigestOf(mutation, earlier.inputDigest, input))) {
    throw new MemoryError(
      'CONFLICT',
      `idempotency_key: a key that was not used for another request; given ${JSON.stringify(key)}, used for ${earlier.operation}`,
      { hint: 'Send the same input again, or choose a new key.' },
    );
  }
  const { id, eventId } = earlier.response as Partial<KeptAnswer> & { id: string };
  if (eventId !== undefined) await tellEarlierEvent(mutation, eventId);
  return id;
}

/** Repeats the event id of the first answer, so that a caller that lost it can undo. */
async function tellEarlierEvent({ context, transaction, tenantId }: Mutation, id: string): Promise<void> {
  const where = { tenantId_id: { tenantId, id } };
  const select = { eventType: true, entityId: true };
  const event = await transaction.memoryEvent.findUnique({ where, select });
  if (event === null) return;
  context.recorded?.push(id);
  if (event.eventType.endsWith('.confirmed')) context.confirmed?.push(event.entityId);
}

/** Returns the digest by which an input is recognized. Keyed if the input is secret. */
export async function digestInput(mutation: Mutation, input: unknown, isSecret: boolean): Promise<string> {
  return isSecret ? secretDigestOf(mutation, input) : digestOf(input);
}

/** The same for two inputs that differ only in the order of their fields. */
function digestOf(input: unknown): string {
  return createHash('sha256').update(textOf(input)).digest('hex');
}

function textOf(input: unknown): string {
  return JSON.stringify(sortFields(input));
}

const secretMark = 'keyed';

/** Names its key: by the time the input comes again another one may be in use. */
async function secretDigestOf({ context, transaction }: Mutation, input: unknown): Promise<string> {
  const key = await useActiveKey(context, transaction);
  return `${secretMark}:${key.id}:${keyedDigest(key, textOf(input))}`;
}

export async function isDigestOf({ context, transaction }: Mutation, digest: string, input: unknown): Promise<boolean> {
  const [mark, keyId, hash] = digest.split(':');
  if (mark !== secretMark || keyId === undefined) return digest === digestOf(input);
  return hash === keyedDigest(await getDataKey(context, keyId, transaction), textOf(input));
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const sorted = entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, sortFields(inner)]));
}
