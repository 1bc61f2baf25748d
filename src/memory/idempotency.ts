import { createHash } from 'node:crypto';
import type { TenantClient } from '../db/database.ts';
import { findEarlierWrite } from '../db/queries/idempotency-keys.ts';
import { keyedDigest } from '../encryption/data-key.ts';
import { MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from './context.ts';
import { getDataKey, useActiveKey } from '../encryption/data-keys.ts';
import { addOmissions, createReport, mutate, type Mutation, type Written } from './mutation.ts';
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

export interface OnceOptions<Prepared> {
  /** Computes what takes long and needs no transaction, such as a vector. Left out for a write that was done before. */
  prepare?: () => Promise<Prepared>;
  /** Writers that name the same one here would wait for the same lock. */
  turn?: string | undefined;
}

/**
 * Does a write that may be sent twice once. The key is claimed in the transaction of the write: a second caller waits for
 * the first, and then gets the first one's answer.
 */
export async function mutateOnce<Prepared = void>(
  context: MemoryContext,
  request: IdempotentRequest,
  work: (mutation: Mutation, prepared: Prepared) => Promise<string>,
  { prepare, turn }: OnceOptions<Prepared> = {},
): Promise<Written<string>> {
  const earlier = await findEarlierAnswer(context, request);
  if (earlier !== null) return earlier;
  const prepared = (await prepare?.()) as Prepared;
  const write = (): Promise<Written<string>> =>
    mutate(context, (mutation) => doOnce(mutation, request, () => work(mutation, prepared)));
  return turn === undefined ? write() : context.db.inTurn(turn, write);
}

/** Returns the answer of a write that was done under the key before; null if there is none. */
export async function findEarlierAnswer(
  context: MemoryContext,
  { idempotencyKey, ...request }: IdempotentRequest,
): Promise<Written<string> | null> {
  if (idempotencyKey == null) return null;
  const key = normaliseKey(createRedactor(context), 'idempotency_key', idempotencyKey);
  return readAnswer(context, context.db.client, { key, ...request });
}

/** The same within a mutation that is under way, such as one of a batch. */
export async function doOnce(
  mutation: Mutation,
  { operation, idempotencyKey, input, isSecret = false }: IdempotentRequest,
  work: () => Promise<string>,
): Promise<string> {
  if (idempotencyKey == null) return work();
  const { context, transaction, tenantId, now, eventId } = mutation;
  const key = normaliseKey(createRedactor(context), 'idempotency_key', idempotencyKey);
  const inputDigest = await digestInput(mutation, input, isSecret);
  const claim = { tenantId, key, operation, inputDigest, response: {}, createdAt: now };
  const { count } = await transaction.idempotencyKey.createMany({ data: [claim], skipDuplicates: true });
  if (count === 0) {
    const answer = await readAnswer(context, transaction, { key, operation, input });
    if (answer === null) throw new Error(`the idempotency key ${key} is there and cannot be read`);
    const { value, ...report } = answer;
    Object.assign(mutation.report, report);
    return value;
  }
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

async function readAnswer(
  context: MemoryContext,
  client: TenantClient,
  { key, operation, input }: { key: string; operation: string; input: unknown },
): Promise<Written<string> | null> {
  const earlier = await findEarlierWrite(client, key);
  if (earlier === null) return null;
  if ('erased' in earlier.response) {
    throw new MemoryError('CONFLICT', `idempotency_key: what was done under ${JSON.stringify(key)} was erased since`, {
      hint: 'Choose a new key if it is to be stored anew.',
    });
  }
  if (earlier.operation !== operation || !(await isDigestOf({ context, client }, earlier.inputDigest, input))) {
    throw new MemoryError(
      'CONFLICT',
      `idempotency_key must be a key that was not used for another request (got ${JSON.stringify(key)}, used for ${earlier.operation})`,
      { hint: 'Send the same input again, or choose a new key.' },
    );
  }
  // Reported once more: a caller that lost the first answer can undo by the second.
  const report = createReport();
  addOmissions(report, earlier.omissions);
  const { eventId, eventType } = earlier;
  const { id } = earlier.response as unknown as KeptAnswer;
  return { ...report, value: id, eventId, confirmed: eventType?.endsWith('.confirmed') ?? false };
}

/** Returns the digest by which an input is recognized. Keyed if the input is secret. */
export async function digestInput(mutation: Mutation, input: unknown, isSecret: boolean): Promise<string> {
  return isSecret ? digestInputWithKey(mutation, input) : digestPlainInput(input);
}

/** The same for two inputs that differ only in the order of their fields. */
function digestPlainInput(input: unknown): string {
  return createHash('sha256').update(writeInput(input)).digest('hex');
}

function writeInput(input: unknown): string {
  return JSON.stringify(sortFields(input));
}

const secretMark = 'keyed';

/** Names its key: by the time the input comes again another one may be in use. */
async function digestInputWithKey({ context, transaction }: Mutation, input: unknown): Promise<string> {
  const key = await useActiveKey(context, transaction);
  return `${secretMark}:${key.id}:${keyedDigest(key, writeInput(input))}`;
}

/** Returns whether the digest is that of the input. */
export async function isDigestOf(
  { context, client }: { context: MemoryContext; client: TenantClient },
  digest: string,
  input: unknown,
): Promise<boolean> {
  const [mark, keyId, hash] = digest.split(':');
  if (mark !== secretMark || keyId === undefined) return digest === digestPlainInput(input);
  return hash === keyedDigest(await getDataKey(context, keyId, client), writeInput(input));
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const sorted = entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, sortFields(inner)]));
}
