import type { Columns } from '../../db/queries/memories.ts';
import type { Fact } from '../../generated/prisma/client.ts';
import { useActiveKey } from '../../encryption/data-keys.ts';
import { isSealedRow, sealedColumns } from '../../encryption/sealing.ts';
import { decayRates } from '../confidence.ts';
import { createLink } from '../links/links.ts';
import { changeMemory, type Mutation } from '../mutation.ts';
import type { Span } from '../spans.ts';
import { checkValidTime, type FactValues, type StoreFactInput } from './fact-values.ts';
import { chooseConfirmedAt, isUpcoming, saidAt } from './valid-time.ts';

/** Confirms as of when it was said. An earlier statement than the latest only supports the fact. */
export async function confirmStored(
  mutation: Mutation,
  fact: Fact,
  given: StoreFactInput,
  values: FactValues,
  { sourceSpans, settle }: { sourceSpans: readonly Span[]; settle: (confirmed: Fact) => Promise<void> },
): Promise<string> {
  const { id } = fact;
  const { now } = mutation;
  const said = saidAt(values.observedAt, now);
  mutation.report.confirmed = true;
  if (said < lastSaidAt(fact, now)) {
    await supportFact(mutation, fact, values.sourceEpisodeId, sourceSpans);
    return id;
  }
  const named = givenAttributes(given, values);
  checkValidTime({ ...fact, ...named });
  const attributes = await attributesToWrite(mutation, fact, named);
  const times = { validFrom: named.validFrom ?? fact.validFrom, validTo: named.validTo ?? fact.validTo };
  const lastConfirmedAt = chooseConfirmedAt(said, times.validFrom);
  const columns: Columns<'fact'> = { ...attributes, validity: 'active', lastConfirmedAt };
  await changeMemory(mutation, { type: 'fact', id }, 'fact.confirmed', columns, { omissions: values.omissions });
  await settle({ ...fact, ...times, lastConfirmedAt });
  return id;
}

/** Returns when a fact was last said; of one whose time has yet to come only its first statement is known. */
function lastSaidAt(fact: Fact, now: Date): Date {
  if (isUpcoming(fact, now)) return fact.observedAt ?? fact.createdAt;
  return fact.lastConfirmedAt ?? fact.createdAt;
}

async function supportFact(
  mutation: Mutation,
  fact: Fact,
  episodeId: string | null,
  spans: readonly Span[],
): Promise<void> {
  if (episodeId === null || episodeId === fact.sourceEpisodeId) return;
  const isNew = await createLink(mutation, {
    source: { type: 'episode', id: episodeId },
    target: { type: 'fact', id: fact.id },
    relation: 'supports',
    spans,
  });
  if (!isNew) mutation.report.eventId = null;
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
