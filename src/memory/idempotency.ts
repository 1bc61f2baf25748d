import { createHash } from 'node:crypto';
import { MemoryError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { mutate, type Mutation } from './mutation.ts';
import { normaliseName } from './text.ts';

export interface IdempotentRequest {
  /** What is done, so that one key cannot stand for two different things. */
  operation: string;
  idempotencyKey: string | null | undefined;
  input: unknown;
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
  { operation, idempotencyKey, input }: IdempotentRequest,
  work: () => Promise<string>,
): Promise<string> {
  if (idempotencyKey === null || idempotencyKey === undefined) return work();
  const { transaction, tenantId, now } = mutation;
  const key = normaliseName('idempotency_key', idempotencyKey);
  const inputDigest = digestOf(input);
  const claim: Prisma.IdempotencyKeyCreateManyInput = {
    tenantId,
    key,
    operation,
    inputDigest,
    response: {},
    createdAt: now,
  };
  const { count } = await transaction.idempotencyKey.createMany({ data: [claim], skipDuplicates: true });
  if (count === 0) return earlierAnswer(mutation, { key, operation, inputDigest });
  const id = await work();
  await transaction.idempotencyKey.update({ where: { tenantId_key: { tenantId, key } }, data: { response: { id } } });
  return id;
}

async function earlierAnswer(
  { transaction, tenantId }: Mutation,
  { key, operation, inputDigest }: { key: string; operation: string; inputDigest: string },
): Promise<string> {
  const earlier = await transaction.idempotencyKey.findUniqueOrThrow({ where: { tenantId_key: { tenantId, key } } });
  if (earlier.operation !== operation || earlier.inputDigest !== inputDigest) {
    throw new MemoryError(
      'CONFLICT',
      `idempotency_key: a key that was not used for another request; given ${JSON.stringify(key)}, used for ${earlier.operation}`,
      { hint: 'Send the same input again, or choose a new key.' },
    );
  }
  return (earlier.response as { id: string }).id;
}

/** The same for two inputs that differ only in the order of their fields. */
function digestOf(input: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortFields(input)))
    .digest('hex');
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const sorted = entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, sortFields(inner)]));
}
