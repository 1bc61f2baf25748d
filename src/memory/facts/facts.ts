import type { Transaction } from '../../db/database.ts';
import { updateEmbeddings } from '../../db/queries/embeddings.ts';
import { listContradicting, listLiveFacts, lockFactKeys } from '../../db/queries/facts.ts';
import type { Columns } from '../../db/queries/memories.ts';
import type { StoredFact } from '../../db/stored-fact.ts';
import type { Fact } from '../../generated/prisma/client.ts';
import { decayRates } from '../confidence.ts';
import type { MemoryContext } from '../context.ts';
import { useActiveKey } from '../../encryption/data-keys.ts';
import { embedOne, vectorsOfOne, type EmbeddedText } from '../embed.ts';
import { mutateOnce } from '../idempotency.ts';
import type { Span } from '../spans.ts';
import { createLink, linkToSource, requireEpisode } from '../links/links.ts';
import { getMemory } from '../memories.ts';
import { MemoryError } from '../../shared/errors.ts';
import { checkUuid } from '../values.ts';
import { changeMemory, createMemory, mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { resolveOptionalId } from '../resolve-id.ts';
import { isSealedRow, openRow, openRows, sealedColumns, sealedPlaceholder } from '../../encryption/sealing.ts';
import { settleReviewsOf } from '../reviews/reviews.ts';
import {
  checkValidTime,
  decideSealing,
  embeddedText,
  isLive,
  normaliseFact,
  type FactValues,
  type StoreFactInput,
} from './fact-values.ts';
import { endOfValidity, replaceFact } from './replace-fact.ts';
import { normaliseValue } from './value-key.ts';

export type { Fact };

/**
 * Stores what is true. A live fact with the same scope, subject and predicate is superseded by it; one that says the
 * same already is confirmed instead, and takes over what else was given.
 */
export async function storeFact(context: MemoryContext, input: StoreFactInput): Promise<Written<Fact>> {
  authorize(context, 'mutation storeFact');
  const sourceEpisodeId = await resolveOptionalId(context, 'source_episode_id', input.sourceEpisodeId, 'episode');
  const values = await decideSealing(context, normaliseFact(context, { ...input, sourceEpisodeId }));
  const { idempotencyKey, ...rest } = input;
  const request = { operation: 'storeFact', idempotencyKey, input: rest, isSecret: values.isSealed };
  const write = async (mutation: Mutation, embedding: EmbeddedText): Promise<string> => {
    await requireEpisode(mutation, 'source_episode_id', values.sourceEpisodeId);
    return (await writeFact(mutation, input, values, embedding)).id;
  };
  const prepare = (): Promise<EmbeddedText> => embedOne(context, embeddedText(values));
  const written = await mutateOnce(context, request, write, { prepare, turn: turnOf(values) });
  return mapWritten(written, async (id) => (await getMemory(context, { type: 'fact', id })).row as Fact);
}

/** About the key that `lockFactKeys` locks. Two keys that the database tells apart may share a turn, and merely wait. */
function turnOf({ kind, scope, subject, predicateKey }: FactValues): string | undefined {
  return kind === 'event' ? undefined : JSON.stringify([scope, subject, predicateKey]).toLowerCase();
}

export interface WrittenFact {
  id: string;
  /** Whether it was known already, and needed only to be confirmed. */
  isConfirmation: boolean;
}

/** The same within a mutation that is under way, of values that `normaliseFact` and `decideSealing` made of what was given. */
export async function writeFact(
  mutation: Mutation,
  given: StoreFactInput,
  values: FactValues,
  embedding: EmbeddedText,
  sourceSpans: readonly Span[] = [],
): Promise<WrittenFact> {
  const [live = null, ...others] = await lockReplaced(mutation, given, values, embedding);
  if (live !== null && live.content === values.content) {
    const id = await confirmStored(mutation, live, given, values);
    for (const other of others) await replaceFact(mutation.consequence, other, live);
    return { id, isConfirmation: true };
  }
  for (const other of live === null ? [] : [live, ...others]) await supersede(mutation, other, values);
  await insertFact(mutation, values, live, embedding);
  await linkFact(mutation, values, live, sourceSpans);
  return { id: values.id, isConfirmation: false };
}

/**
 * Opens the live fact. One that was stored before its predicate was to be sealed is sealed now: the events that follow
 * would otherwise keep its text once more.
 */
async function openLive(
  { context, transaction }: Mutation,
  live: StoredFact,
  values: FactValues,
  embedding: EmbeddedText,
): Promise<Fact> {
  const plain = await openRow(context, live, transaction);
  if (!values.isSealed || isSealedRow(live)) return plain;
  const { tenantId, id } = live;
  const columns = sealedColumns(await useActiveKey(context, transaction), id, plain);
  await transaction.fact.update({ where: { tenantId_id: { tenantId, id } }, data: columns, select: { id: true } });
  await updateEmbeddings(transaction, { type: 'fact', id }, await vectorsOfOne(context, transaction, embedding));
  return { ...plain, dataKeyId: columns.dataKeyId };
}

/**
 * Returns the live facts whose place the new one takes, one that says the same first. Of a predicate that holds several
 * values these are the facts of the same value, of another all of its key, which is one, unless it held several before.
 */
async function lockReplaced(
  mutation: Mutation,
  { supersedes }: StoreFactInput,
  values: FactValues,
  embedding: EmbeddedText,
): Promise<Fact[]> {
  const named = supersedes == null ? null : await lockNamed(mutation, checkUuid('supersedes', supersedes), values);
  const replaced: Fact[] = named === null ? [] : [named];
  for (const stored of await lockLiveFacts(mutation.transaction, values)) {
    if (stored.id === named?.id) continue;
    if (values.valueKey !== '' && !(await isSameValue(mutation, stored, values))) continue;
    replaced.push(await openLive(mutation, stored, values, embedding));
  }
  return replaced.toSorted(
    (left, right) => Number(right.content === values.content) - Number(left.content === values.content),
  );
}

/** Returns the fact that the caller names as replaced. Its key and that of the new one are locked in one order. */
async function lockNamed({ context, transaction, tenantId }: Mutation, id: string, values: FactValues): Promise<Fact> {
  await lockFactKeys(transaction, { keys: values.kind === 'event' ? [] : [values], factIds: [id] });
  const fact = await transaction.fact.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (fact === null) throw new MemoryError('NOT_FOUND', `supersedes: fact ${id} is not there`);
  if (isLive(fact.validity)) return openRow(context, fact, transaction);
  throw new MemoryError('INVALID_TRANSITION', `supersedes: fact ${id} is ${fact.validity}, and must be live for this`);
}

/** Compares values instead of their keys: that of a sealed fact changes with the data key. */
async function isSameValue(
  { context, transaction }: Mutation,
  stored: StoredFact,
  values: FactValues,
): Promise<boolean> {
  const { content } = await openRow(context, stored, transaction);
  return normaliseValue(content) === normaliseValue(values.content);
}

/**
 * Returns the live facts of a key, whose writers wait from here on until this transaction ends. An event is a point in
 * time: it has no key to share and nothing to supersede.
 */
export async function lockLiveFacts(
  transaction: Transaction,
  { kind, ...key }: Pick<Fact, 'kind' | 'scope' | 'subject' | 'predicateKey'>,
): Promise<StoredFact[]> {
  if (kind === 'event') return [];
  const [locked] = await lockFactKeys(transaction, { keys: [key] });
  return locked === undefined ? [] : listLiveFacts(transaction, locked);
}

async function confirmStored(
  mutation: Mutation,
  live: Fact,
  given: StoreFactInput,
  values: FactValues,
): Promise<string> {
  const { id } = live;
  const named = givenAttributes(given, values);
  checkValidTime({ ...live, ...named });
  const attributes = await attributesToWrite(mutation, live, named);
  const columns: Columns<'fact'> = { ...attributes, validity: 'active', lastConfirmedAt: mutation.now };
  await changeMemory(mutation, { type: 'fact', id }, 'fact.confirmed', columns, { omissions: values.omissions });
  mutation.report.confirmed = true;
  return id;
}

/** Those of a sealed fact that are sealed with it, once more with what changes. */
async function attributesToWrite(
  { context, transaction }: Mutation,
  live: Fact,
  { tags, metadata, ...attributes }: GivenAttributes,
): Promise<Columns<'fact'>> {
  if (!isSealedRow(live)) return { ...attributes, tags, metadata };
  if (tags === undefined && metadata === undefined) return attributes;
  const key = await useActiveKey(context, transaction);
  const { content } = live;
  const values = { content, tags: tags ?? live.tags, metadata: metadata ?? live.metadata };
  return { ...attributes, ...sealedColumns(key, live.id, values) };
}

type GivenAttributes = Partial<
  Pick<FactValues, 'importance' | 'confidence' | 'permanence' | 'tags' | 'metadata' | 'validFrom' | 'validTo'>
> & { decayRate?: number };

/** Only what the caller named: a default must not overwrite what is known. */
function givenAttributes(given: StoreFactInput, values: FactValues): GivenAttributes {
  return {
    ...(given.importance != null && { importance: values.importance }),
    ...(given.confidence != null && { confidence: values.confidence }),
    ...(given.permanence != null && { permanence: values.permanence, decayRate: decayRates[values.permanence] }),
    ...(given.tags != null && { tags: values.tags }),
    ...(given.metadata != null && { metadata: values.metadata }),
    ...(given.validFrom != null && { validFrom: values.validFrom }),
    ...(given.validTo != null && { validTo: values.validTo }),
  };
}

/** The successor is inserted after this: the database lets no key have two live facts, not even for a moment. */
async function supersede({ consequence: mutation }: Mutation, live: Fact, values: FactValues): Promise<void> {
  await changeMemory(mutation, { type: 'fact', id: live.id }, 'fact.superseded', {
    validity: 'superseded',
    supersededAt: mutation.now,
    validTo: live.validTo ?? endOfValidity(live, values, mutation.now),
  });
  await settleReviewsOf(mutation, live.id, values.id);
}

async function insertFact(
  mutation: Mutation,
  { omissions, isSealed, ...values }: FactValues,
  live: Fact | null,
  embedding: EmbeddedText,
): Promise<void> {
  const { context, transaction, now } = mutation;
  const sealed = isSealed ? sealedColumns(await useActiveKey(context, transaction), values.id, values) : {};
  const columns = {
    ...values,
    ...sealed,
    observedAt: values.observedAt ?? (values.kind === 'event' ? now : null),
    language: context.config.memory.retrieval.language,
    decayRate: decayRates[values.permanence],
    supersedesId: live?.id ?? null,
    recordedAt: now,
    createdAt: now,
    lastConfirmedAt: now,
    requestId: context.requestContext.requestId,
  };
  await createMemory(mutation, 'fact', columns, { embedding, omissions });
}

async function linkFact(
  { consequence: mutation }: Mutation,
  values: FactValues,
  live: Fact | null,
  sourceSpans: readonly Span[],
): Promise<void> {
  const source = { type: 'fact', id: values.id } as const;
  if (live !== null)
    await createLink(mutation, { source, target: { type: 'fact', id: live.id }, relation: 'supersedes' });
  await linkToSource(mutation, source, values.sourceEpisodeId, sourceSpans);
  for (const id of await findContradicted(mutation, values, live)) {
    await createLink(mutation, { source, target: { type: 'fact', id }, relation: 'contradicts' });
  }
}

/** So many contradictions are linked, and at most so many facts looked through for them. */
const mostContradicted = 20;
const mostLookedThrough = 100;

/** Live facts of the same key in other scopes that say something else, and what another butler said before. */
async function findContradicted(mutation: Mutation, values: FactValues, live: Fact | null): Promise<string[]> {
  // Of a predicate that holds several values, another value is no contradiction.
  if (values.kind === 'event' || values.valueKey !== '') return [];
  const { context, transaction } = mutation;
  // A sealed content is not handed to the database, not even to be compared.
  const content = values.isSealed ? sealedPlaceholder : values.content;
  const others = await listContradicting(transaction, values, content, mostLookedThrough);
  const stated = await openRows(context, others, transaction);
  const different = stated.filter((other) => other.content !== values.content).slice(0, mostContradicted);
  const fromAnotherSource = live !== null && live.sourceButler !== values.sourceButler ? [live.id] : [];
  return [...fromAnotherSource, ...different.map(({ id }) => id)];
}
