import type { Transaction } from '../../db/database.ts';
import { updateEmbeddings } from '../../db/queries/embeddings.ts';
import {
  listContradicting,
  listLiveFacts,
  listSameHistory,
  lockFactKeys,
  type LockedKey,
  type ValuedKey,
} from '../../db/queries/facts.ts';
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
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import { confirmStored } from './confirm-fact.ts';
import { checkUuid } from '../values.ts';
import { changeMemory, createMemory, mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { resolveOptionalId } from '../resolve-id.ts';
import { isSealedRow, openRow, openRows, sealedColumns, sealedPlaceholder } from '../../encryption/sealing.ts';
import {
  decideSealing,
  embeddedText,
  isLive,
  normaliseFact,
  normaliseValue,
  type FactValues,
  type StoreFactInput,
} from './fact-values.ts';
import { reviewLookAlike } from './look-alikes.ts';
import { endFact, findHistoryPlace, findPredecessor, linkHistory, makeRoom, planKey, settleKey } from './place-fact.ts';
import { authorizeReplacement, replaceFact } from './replace-fact.ts';
import { findBeginning, chooseConfirmedAt, hasEnded, isSameDay, isUpcoming, saidAt } from './valid-time.ts';

export type { Fact };

/**
 * Stores what is true. A live fact with the same scope, subject and predicate is superseded by it; one that says the
 * same already is confirmed instead, and takes over what else was given.
 */
export async function storeFact(context: MemoryContext, given: StoreFactInput): Promise<Written<Fact>> {
  authorize(context, 'mutation storeFact');
  const supersedes = await resolveOptionalId(context, 'supersedes', given.supersedes, 'fact');
  const input = { ...given, supersedes };
  const sourceEpisodeId = await resolveOptionalId(context, 'source_episode_id', input.sourceEpisodeId, 'episode');
  const values = await decideSealing(context, normaliseFact(context, { ...input, sourceEpisodeId }));
  const { idempotencyKey, ...rest } = input;
  const request = { operation: 'storeFact', idempotencyKey, input: rest, isSecret: values.isSealed };
  const write = async (mutation: Mutation, embedding: EmbeddedText): Promise<string> => {
    await requireEpisode(mutation, 'source_episode_id', values.sourceEpisodeId);
    return (await writeFact(mutation, input, values, embedding)).id;
  };
  const prepare = (): Promise<EmbeddedText> => embedOne(context, embeddedText(values));
  const written = await mutateOnce(context, request, write, { prepare, turn: chooseTurn(values) });
  return mapWritten(written, async (id) => (await getMemory(context, { type: 'fact', id })).row as Fact);
}

/** About the key that `lockFactKeys` locks. Two keys that the database tells apart may share a turn, and merely wait. */
function chooseTurn({ kind, scope, subject, predicateKey }: FactValues): string | undefined {
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
  const text = { embedding, sourceSpans };
  const draft = draftColumns(values, mutation.now);
  const named = await lockNamed(mutation, given, values);
  const key = await lockKey(mutation.transaction, values);
  if (key === null) return storeEvent(mutation, draft, named, text);
  const stored = await listLiveFacts(mutation.transaction, key);
  const live = await openReplaced(mutation, stored, values, embedding);
  const same = live.find((fact) => saysTheSame(fact, values, mutation.now));
  if (same === undefined) {
    return placeFact(mutation, { ...key, valueKey: values.valueKey }, draft, { live, named }, text);
  }
  if (named !== null && named.id !== same.id) await replaceFact(mutation.consequence, named, same);
  const settle = async (confirmed: Fact): Promise<void> => {
    const others = live.filter(({ id }) => id !== same.id && id !== named?.id);
    await settleKey(mutation.consequence, [...others, confirmed]);
  };
  return { id: await confirmStored(mutation, same, given, values, { sourceSpans, settle }), isConfirmation: true };
}

/** Vector and source spans of a fact, stored beside its columns. */
interface FactText {
  embedding: EmbeddedText;
  /** Where its source episode says it. */
  sourceSpans: readonly Span[];
}

/** Stores a point in time. It takes the place of a fact only where the caller names one. */
async function storeEvent(mutation: Mutation, draft: Draft, named: Fact | null, text: FactText): Promise<WrittenFact> {
  if (named !== null) await endFact(mutation.consequence, named, draft);
  const times = { lastConfirmedAt: mutation.now, supersedesId: named?.id ?? null };
  await insertFact(mutation, { ...draft, ...times }, text.embedding);
  await linkFact(mutation, draft, named, text.sourceSpans);
  return { id: draft.id, isConfirmation: false };
}

/** A fact that is about to be stored, and when. */
interface Draft extends FactValues {
  createdAt: Date;
  lastConfirmedAt: Date;
  supersedesId: string | null;
  supersededAt: Date | null;
  validity: 'active' | 'superseded' | 'expired';
  setAside: boolean;
}

function draftColumns(values: FactValues, now: Date): Draft {
  return {
    ...values,
    createdAt: now,
    lastConfirmedAt: chooseConfirmedAt(saidAt(values.observedAt, now), values.validFrom),
    supersedesId: null,
    supersededAt: null,
    validity: 'active',
    setAside: false,
  };
}

/**
 * Stores a fact where it belongs in time: as the current one of its key, beside it if its time has yet to come, or as
 * history if it was said earlier than what is current or has ended.
 */
async function placeFact(
  mutation: Mutation,
  key: ValuedKey,
  draft: Draft,
  { live, named }: { live: readonly Fact[]; named: Fact | null },
  text: FactText,
): Promise<WrittenFact> {
  const replaced = named !== null && givesWayNow(named, live, draft, mutation.now) ? named : null;
  const plan = planKey<Fact | Draft>([...live.filter(({ id }) => id !== replaced?.id), draft], mutation.now);
  if (plan.over.includes(draft)) return storeHistory(mutation, key, draft, text);
  const others = { ...plan, waiting: without(plan.waiting, draft) };
  if (replaced !== null) others.over.push(replaced);
  else if (named !== null) await endAtBeginning(mutation, named, live, draft);
  const predecessor = replaced ?? findPredecessor(others, mutation.now);
  await makeRoom(mutation, others, draft);
  const setAside = plan.current !== draft;
  await insertFact(mutation, { ...draft, setAside, supersedesId: predecessor?.id ?? null }, text.embedding);
  await linkFact(mutation, draft, predecessor, text.sourceSpans);
  if (named === null && !setAside) await reviewLookAlike(mutation, draft);
  return { id: draft.id, isConfirmation: false };
}

/**
 * Whether a fact that the caller names as replaced ends at once. One of the same key stays where the new one has yet to
 * begin or will end; one of another key stays only until the new one begins.
 */
function givesWayNow(named: Fact, live: readonly Fact[], draft: Draft, now: Date): boolean {
  if (hasEnded(draft, now)) throw invalidInput('supersedes', 'left out for a fact that has ended', named.id);
  const isSameKey = live.some(({ id }) => id === named.id);
  return !isUpcoming(draft, now) && !(isSameKey && draft.validTo !== null);
}

/** Ends a fact of another key on the first day of the one that will replace it. */
async function endAtBeginning(
  { consequence }: Mutation,
  named: Fact,
  live: readonly Fact[],
  { validFrom }: Draft,
): Promise<void> {
  if (live.some(({ id }) => id === named.id)) return;
  if (validFrom === null || (named.validTo !== null && named.validTo < validFrom)) return;
  await changeMemory(consequence, { type: 'fact', id: named.id }, 'fact.bridged', { validTo: validFrom });
}

function without<T>(list: readonly T[], one: T): T[] {
  return list.filter((item) => item !== one);
}

/** Stores what was said earlier, or has ended. Nothing is stored when it is known from the same moment or episode. */
async function storeHistory(
  mutation: Mutation,
  key: ValuedKey,
  draft: Draft,
  { embedding, sourceSpans }: FactText,
): Promise<WrittenFact> {
  const { context, transaction, now } = mutation;
  const statement = { said: saidAt(draft.observedAt, now), sourceEpisodeId: draft.sourceEpisodeId };
  const known = await openRows(context, await listSameHistory(transaction, key, statement), transaction);
  const same = known.find(({ content }) => content === draft.content);
  if (same !== undefined) {
    mutation.report.confirmed = true;
    return { id: same.id, isConfirmation: true };
  }
  const place = await findHistoryPlace(mutation, key, draft);
  const { validity, validTo, before } = place;
  const supersededAt = validity === 'superseded' ? now : null;
  await insertFact(
    mutation,
    { ...draft, validity, validTo, supersededAt, supersedesId: before?.id ?? null },
    embedding,
  );
  await linkToSource(mutation, { type: 'fact', id: draft.id }, draft.sourceEpisodeId, sourceSpans);
  await linkHistory(mutation, draft, place);
  return { id: draft.id, isConfirmation: false };
}

/**
 * Whether a live fact says what is to be stored, of the same time: the same words about a day to come, or about an earlier
 * period that is over, are another fact.
 */
function saysTheSame(fact: Fact, values: FactValues, now: Date): boolean {
  if (fact.content !== values.content) return false;
  if (isUpcoming(values, now)) return isUpcoming(fact, now) && isSameDay(fact.validFrom, values.validFrom);
  if (isUpcoming(fact, now)) return false;
  const { validFrom, validTo } = values;
  return validFrom === null || validTo === null || validTo > findBeginning(fact);
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
 * Opens the live facts whose place the new one may take. Of a predicate that holds several values these are the facts of
 * the same value, of another all of its key.
 */
async function openReplaced(
  mutation: Mutation,
  stored: readonly StoredFact[],
  values: FactValues,
  embedding: EmbeddedText,
): Promise<Fact[]> {
  const replaced: Fact[] = [];
  for (const one of stored) {
    if (values.valueKey !== '' && !(await isSameValue(mutation, one, values))) continue;
    replaced.push(await openLive(mutation, one, values, embedding));
  }
  return replaced;
}

/** Returns the fact that the caller names as replaced; null if none. Its key and that of the new one are locked in one order. */
async function lockNamed(
  { context, transaction, tenantId }: Mutation,
  { supersedes }: StoreFactInput,
  values: FactValues,
): Promise<Fact | null> {
  if (supersedes == null) return null;
  const id = checkUuid('supersedes', supersedes);
  await lockFactKeys(transaction, { keys: values.kind === 'event' ? [] : [values], factIds: [id] });
  const fact = await transaction.fact.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (fact === null) throw new MemoryError('NOT_FOUND', `supersedes: fact ${id} is not there`);
  authorizeReplacement(context, fact, values);
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
 * Locks the key of a fact: its writers wait from here on until this transaction ends. An event is a point in time: it has
 * no key to share and nothing to supersede.
 */
async function lockKey(
  transaction: Transaction,
  { kind, ...key }: Pick<Fact, 'kind' | 'scope' | 'subject' | 'predicateKey'>,
): Promise<LockedKey | null> {
  if (kind === 'event') return null;
  const [locked] = await lockFactKeys(transaction, { keys: [key] });
  return locked ?? null;
}

/** Returns the live facts of a key, locked as above. */
export async function lockLiveFacts(
  transaction: Transaction,
  fact: Pick<Fact, 'kind' | 'scope' | 'subject' | 'predicateKey'>,
): Promise<StoredFact[]> {
  const key = await lockKey(transaction, fact);
  return key === null ? [] : listLiveFacts(transaction, key);
}

/** Facts that it takes the place of give way before: the database lets no key have two, not even for a moment. */
async function insertFact(
  mutation: Mutation,
  { omissions, isSealed, ...draft }: Draft,
  embedding: EmbeddedText,
): Promise<void> {
  const { context, transaction, now } = mutation;
  const sealed = isSealed ? sealedColumns(await useActiveKey(context, transaction), draft.id, draft) : {};
  const columns = {
    ...draft,
    ...sealed,
    observedAt: draft.observedAt ?? (draft.kind === 'event' ? now : null),
    language: context.config.memory.retrieval.language,
    decayRate: decayRates[draft.permanence],
    recordedAt: now,
    requestId: context.requestContext.requestId,
  };
  await createMemory(mutation, 'fact', columns, { embedding, omissions });
}

/** The fact whose place another takes. */
type Replaced = Pick<Fact, 'id' | 'sourceButler'>;

async function linkFact(
  { consequence: mutation }: Mutation,
  values: FactValues,
  live: Replaced | null,
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
async function findContradicted(mutation: Mutation, values: FactValues, live: Replaced | null): Promise<string[]> {
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
