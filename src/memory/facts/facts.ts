import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../../db/database.ts';
import { findLiveFact, listContradicting, lockFactKeys } from '../../db/queries/facts.ts';
import { setEmbedding } from '../../db/sql/set-embedding.ts';
import type { StoredFact } from '../../db/stored-fact.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { Fact, Prisma } from '../../generated/prisma/client.ts';
import { asStored, omissionsOf, createRedactor, type RedactedText, type Omissions } from '../../redaction/redactor.ts';
import { decayRates, permanences, type Permanence } from '../confidence.ts';
import type { MemoryContext } from '../context.ts';
import { isToBeSealed, prepareSealing, useActiveKey } from '../data-keys.ts';
import { embedOne, vectorsOfOne, type EmbeddedText } from '../embed.ts';
import { mutateOnce } from '../idempotency.ts';
import { createLink, linkToSource, requireEpisode } from '../links/links.ts';
import { normaliseMetadata, type KeptMetadata } from '../metadata.ts';
import { changeMemory, type Mutation } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { requireButler, requireScope } from '../reach.ts';
import { isSealedRow, openRow, openRows, sealedColumns, sealedPlaceholder } from '../sealing.ts';
import { normaliseContent, normaliseKey, normaliseLabel } from '../text.ts';
import { checkDate, checkNumber, checkOneOf, checkOptionalUuid, globalScope, normaliseTags } from '../values.ts';

export type { Fact };

export const factKinds = ['state', 'event'] as const;
export type FactKind = (typeof factKinds)[number];

export const factValidities = ['active', 'fading', 'superseded', 'expired', 'retracted'] as const;
export type FactValidity = (typeof factValidities)[number];

/** Live is active or fading: the validities of which a key has one fact at most. */
export const liveValidities: FactValidity[] = ['active', 'fading'];

export function isLive(validity: unknown): boolean {
  return liveValidities.some((live) => live === validity);
}

export interface StoreFactInput {
  subject: string;
  predicate: string;
  content: string;
  importance?: number | null | undefined;
  permanence?: string | null | undefined;
  confidence?: number | null | undefined;
  scope?: string | null | undefined;
  kind?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
  sourceButler?: string | null | undefined;
  sourceEpisodeId?: string | null | undefined;
  observedAt?: Date | null | undefined;
  validFrom?: Date | null | undefined;
  validTo?: Date | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/**
 * Stores what is true. A live fact with the same scope, subject and predicate is superseded by it; one that says the
 * same already is confirmed instead, and takes over what else was given.
 */
export async function storeFact(context: MemoryContext, input: StoreFactInput): Promise<Fact> {
  authorize(context, 'mutation storeFact');
  const values = await decideSealing(context, normaliseFact(context, input));
  const embedding = await embedOne(context, embeddedText(values));
  const { idempotencyKey, ...rest } = input;
  const request = { operation: 'storeFact', idempotencyKey, input: rest, isSecret: values.isSealed };
  const id = await mutateOnce(context, request, async (mutation) => {
    await requireEpisode(mutation, 'source_episode_id', values.sourceEpisodeId);
    const written = await writeFact(mutation, input, values, embedding);
    return written.id;
  });
  const { tenantId } = context.principal;
  const fact = await context.db.client.fact.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  return openRow(context, fact);
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
): Promise<WrittenFact> {
  const stored = await lockLiveFact(mutation.transaction, values);
  const live = stored === null ? null : await openLive(mutation, stored, values, embedding);
  if (live !== null && live.content === values.content) {
    return { id: await confirmStored(mutation, live, given, values), isConfirmation: true };
  }
  if (live !== null) await supersede(mutation, live, values);
  await insertFact(mutation, values, live, embedding);
  await linkFact(mutation, values, live);
  return { id: values.id, isConfirmation: false };
}

/**
 * The live fact as it reads. One that was stored before its predicate was to be sealed is sealed now: the events that
 * follow would else tell it once more.
 */
async function openLive(
  mutation: Mutation,
  live: StoredFact,
  values: FactValues,
  embedding: EmbeddedText,
): Promise<Fact> {
  const { context, transaction, tenantId } = mutation;
  const plain = await openRow(context, live, transaction);
  if (!values.isSealed || isSealedRow(live)) return plain;
  const { id } = live;
  const columns = sealedColumns(await useActiveKey(context, transaction), id, plain);
  await transaction.fact.update({ where: { tenantId_id: { tenantId, id } }, data: columns, select: { id: true } });
  const vectors = await vectorsOfOne(context, transaction, embedding);
  await transaction.$executeRaw(setEmbedding('fact', { tenantId, id }, vectors));
  return { ...plain, dataKeyId: columns.dataKeyId };
}

export interface FactValues {
  id: string;
  subject: RedactedText;
  predicate: RedactedText;
  content: RedactedText;
  scope: string;
  kind: FactKind;
  importance: number;
  confidence: number;
  permanence: Permanence;
  tags: RedactedText[];
  metadata: KeptMetadata;
  sourceButler: string | null;
  sourceEpisodeId: string | null;
  observedAt: Date | null;
  validFrom: Date | null;
  validTo: Date | null;
  /** What redaction removed; not a column. */
  omissions: Omissions;
  /** Whether the database gets its content, tags and metadata encrypted. */
  isSealed: boolean;
}

/** Before the transaction, and before anything is made of the content. */
export async function decideSealing(context: MemoryContext, values: FactValues): Promise<FactValues> {
  const isSealed = await isToBeSealed(context, values.predicate);
  if (isSealed) await prepareSealing(context);
  return { ...values, isSealed };
}

export function normaliseFact(context: MemoryContext, input: StoreFactInput): FactValues {
  const redactor = createRedactor(context);
  const values: FactValues = {
    id: uuidv7(),
    subject: normaliseLabel(redactor, 'subject', input.subject),
    predicate: normaliseLabel(redactor, 'predicate', input.predicate),
    content: normaliseContent(redactor, 'content', input.content),
    scope: requireScope(context, normaliseKey(redactor, 'scope', input.scope ?? globalScope)),
    kind: checkOneOf('kind', input.kind ?? 'state', factKinds),
    importance: checkNumber('importance', input.importance ?? 5, 1, 10),
    confidence: checkNumber('confidence', input.confidence ?? 1, 0, 1),
    permanence: checkOneOf('permanence', input.permanence ?? 'standard', permanences),
    tags: normaliseTags(redactor, input.tags),
    metadata: normaliseMetadata(redactor, 'metadata', input.metadata ?? {}),
    sourceButler: input.sourceButler
      ? requireButler(context, normaliseKey(redactor, 'source_butler', input.sourceButler), 'source_butler')
      : context.principal.butler,
    sourceEpisodeId: checkOptionalUuid('source_episode_id', input.sourceEpisodeId),
    observedAt: checkDate('observed_at', input.observedAt),
    validFrom: checkDate('valid_from', input.validFrom),
    validTo: checkDate('valid_to', input.validTo),
    omissions: omissionsOf(redactor),
    isSealed: false,
  };
  checkValidTime(values);
  return values;
}

/**
 * Subject and predicate belong to what a fact says: "user, allergy: nuts" must be near "is the user allergic?". Of a
 * sealed fact they are all, because a vector tells much of its text.
 */
export function embeddedText({
  subject,
  predicate,
  content,
  isSealed = content === sealedPlaceholder,
}: TextOfFact): RedactedText {
  const about = `${subject} ${predicate.replaceAll('_', ' ')}`;
  return asStored(isSealed ? about : `${about} ${content}`);
}

interface TextOfFact extends Pick<FactValues, 'subject' | 'predicate' | 'content'> {
  isSealed?: boolean;
}

/**
 * Returns the live fact of a key, whose writers wait from here on until this transaction ends. An event is a point in
 * time: it has no key to share and nothing to supersede.
 */
export async function lockLiveFact(
  transaction: Transaction,
  { kind, ...key }: Pick<Fact, 'kind' | 'scope' | 'subject' | 'predicate'>,
): Promise<StoredFact | null> {
  if (kind === 'event') return null;
  const [locked] = await lockFactKeys(transaction, { keys: [key] });
  return locked === undefined ? null : findLiveFact(transaction, locked);
}

function checkValidTime({ validFrom, validTo }: Pick<Fact, 'validFrom' | 'validTo'>): void {
  if (validFrom !== null && validTo !== null && validTo < validFrom) {
    throw invalidInput('valid_to', 'not before valid_from', validTo);
  }
}

async function confirmStored(
  mutation: Mutation,
  live: Fact,
  given: StoreFactInput,
  values: FactValues,
): Promise<string> {
  const { tenantId, id } = live;
  const named = givenAttributes(given, values);
  checkValidTime({ ...live, ...named });
  const attributes = await attributesToWrite(mutation, live, named);
  await changeMemory(
    mutation,
    { type: 'fact', id },
    'fact.confirmed',
    () =>
      mutation.transaction.fact.update({
        where: { tenantId_id: { tenantId, id } },
        data: {
          ...attributes,
          validity: 'active',
          lastConfirmedAt: mutation.now,
          version: { increment: 1 },
        },
      }),
    { omissions: values.omissions },
  );
  mutation.context.confirmed?.push(id);
  return id;
}

/** Those of a sealed fact that are sealed with it, once more with what changes. */
async function attributesToWrite(
  { context, transaction }: Mutation,
  live: Fact,
  { tags, metadata, ...attributes }: GivenAttributes,
): Promise<Prisma.FactUncheckedUpdateInput> {
  if (!isSealedRow(live)) return { ...attributes, ...(tags && { tags }), ...(metadata && { metadata }) };
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
  const { tenantId, id } = live;
  await changeMemory(mutation, { type: 'fact', id }, 'fact.superseded', () =>
    mutation.transaction.fact.update({
      where: { tenantId_id: { tenantId, id } },
      data: {
        validity: 'superseded',
        supersededAt: mutation.now,
        validTo: live.validTo ?? endOfValidity(live, values, mutation.now),
        version: { increment: 1 },
      },
    }),
  );
}

/** It was true until its successor became true, as far as that is known; never before it began. */
function endOfValidity(live: Fact, { validFrom }: FactValues, now: Date): Date {
  const end = validFrom ?? now;
  return live.validFrom !== null && live.validFrom > end ? live.validFrom : end;
}

async function insertFact(
  mutation: Mutation,
  { omissions, ...values }: FactValues,
  live: Fact | null,
  embedding: EmbeddedText,
): Promise<void> {
  const { context, transaction, tenantId, now } = mutation;
  const { isSealed, ...plain } = values;
  const sealed = isSealed ? sealedColumns(await useActiveKey(context, transaction), values.id, values) : {};
  await transaction.fact.create({
    data: {
      ...plain,
      ...sealed,
      tenantId,
      observedAt: values.observedAt ?? (values.kind === 'event' ? now : null),
      language: context.config.memory.retrieval.language,
      decayRate: decayRates[values.permanence],
      supersedesId: live?.id ?? null,
      recordedAt: now,
      createdAt: now,
      lastConfirmedAt: now,
      requestId: context.requestContext.requestId,
    },
    select: { id: true },
  });
  const vectors = await vectorsOfOne(context, transaction, embedding);
  await transaction.$executeRaw(setEmbedding('fact', { tenantId, id: values.id }, vectors));
  await mutation.recordCreation({ type: 'fact', id: values.id }, 'fact.stored', omissions);
}

async function linkFact({ consequence: mutation }: Mutation, values: FactValues, live: Fact | null): Promise<void> {
  const source = { type: 'fact', id: values.id } as const;
  if (live !== null)
    await createLink(mutation, { source, target: { type: 'fact', id: live.id }, relation: 'supersedes' });
  await linkToSource(mutation, source, values.sourceEpisodeId);
  for (const id of await findContradicted(mutation, values, live)) {
    await createLink(mutation, { source, target: { type: 'fact', id }, relation: 'contradicts' });
  }
}

/** So many contradictions are linked, and at most so many facts looked through for them. */
const mostContradicted = 20;
const mostLookedThrough = 100;

/** Live facts of the same key in other scopes that say something else, and what another butler said before. */
async function findContradicted(mutation: Mutation, values: FactValues, live: Fact | null): Promise<string[]> {
  if (values.kind === 'event') return [];
  const { context, transaction } = mutation;
  // A sealed content is not handed to the database, not even to be compared.
  const content = values.isSealed ? sealedPlaceholder : values.content;
  const others = await listContradicting(transaction, values, content, mostLookedThrough);
  const stated = await openRows(context, others, transaction);
  const different = stated.filter((other) => other.content !== values.content).slice(0, mostContradicted);
  const fromAnotherSource = live !== null && live.sourceButler !== values.sourceButler ? [live.id] : [];
  return [...fromAnotherSource, ...different.map(({ id }) => id)];
}
