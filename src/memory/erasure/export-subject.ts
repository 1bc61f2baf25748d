import { listFactsAbout, listMentions } from '../../db/queries/erasure.ts';
import { memoryTypes } from '../../db/tables.ts';
import { listReceiptsOfMemories, type ReceiptOfMemory } from '../../db/queries/receipts.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { Fact, MemoryEvent, MemoryLink, Prisma, QuarantinedItem, Review } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../context.ts';
import { listEventsOf } from '../history/history.ts';
import type { MemoryReference } from '../links/links.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memories.ts';
import { authorize } from '../permissions.ts';
import { openRow, openSnapshot } from '../../encryption/sealing.ts';
import { normaliseName } from '../text.ts';
import { readPayload } from '../history/snapshots.ts';
import { checkLimit } from '../values.ts';

/** All that is known of one memory, in JSON. */
export type ExportedMemory = Prisma.JsonObject;

export interface ExportPage {
  memories: ExportedMemory[];
  /** Where the next page begins; null after the last. */
  next: string | null;
}

export interface ExportInput {
  subject: string;
  /** What the page before gave as `next`. */
  after?: string | null | undefined;
  limit?: number | null | undefined;
}

const usualPage = 20;
const mostExported = 50;
const mostEvents = 1000;
const mostReceipts = 100;

/**
 * Exports a subject: the facts about it in whatever state, then the memories that mention it; each with its events,
 * links, reviews, source and the receipts that showed it.
 */
export async function exportSubject(context: MemoryContext, input: ExportInput): Promise<ExportPage> {
  authorize(context, 'query exportSubject');
  const subject = normaliseName('subject', input.subject);
  const limit = checkLimit('first', input.limit, usualPage, mostExported);
  const client = context.db.client;
  const about = await listFactsAbout(client, subject);
  const mentions = await listMentions(client, subject);
  const all = [...about, ...mentions];
  const start = findStart(all, input.after);
  const page = all.slice(start, start + limit);
  const last = page.at(-1);
  return {
    memories: await describeAll(context, page, new Set(about.map(({ id }) => id))),
    next: last === undefined || start + limit >= all.length ? null : referenceKey(last),
  };
}

function findStart(all: readonly MemoryReference[], after: string | null | undefined): number {
  if (after == null) return 0;
  const place = all.findIndex((reference) => referenceKey(reference) === after);
  if (place === -1) throw invalidInput('after', 'the cursor of the page before, whose memory is still there', after);
  return place + 1;
}

/** Reads what hangs on the memories of a page together: a statement for each kind, however many memories there are. */
async function describeAll(
  context: MemoryContext,
  references: readonly MemoryReference[],
  about: ReadonlySet<string>,
): Promise<ExportedMemory[]> {
  if (references.length === 0) return [];
  const rows = await loadMemories(context, references);
  const events = await listEventsOf(context, references, mostEvents);
  const links = await listLinksOf(context, references);
  const reviews = await listReviewsOf(context, references);
  const quarantined = await listQuarantinedOf(context, references);
  const receipts = await listReceiptsOf(context, references);
  const sources = await loadSources(context, [...rows.values()]);
  const described: ExportedMemory[] = [];
  for (const reference of references) {
    const key = referenceKey(reference);
    const row = rows.get(key);
    const told = (events.get(key) ?? []).toReversed().map((event) => eventInPlain(context, event));
    described.push(
      toJson({
        relation: about.has(reference.id) ? 'about' : 'mentions',
        ...reference,
        memory: row === undefined ? null : await inPlain(context, row),
        source: sources.get(readSourceId(row) ?? '') ?? null,
        events: await Promise.all(told),
        links: links.filter((link) => isEndOf(reference, link)),
        quarantined: quarantined.filter(({ episodeId }) => episodeId === reference.id),
        reviews: reviews.filter(({ newerId, olderId }) => [newerId, olderId].includes(reference.id)),
        receipts: receipts.get(reference.id) ?? [],
      }),
    );
  }
  return described;
}

/** Decrypts the content, and leaves out the key it is sealed by. */
async function inPlain(context: MemoryContext, row: StoredRow): Promise<object> {
  const { sealedContent: _sealed, dataKeyId: _key, ...plain } = (await openRow(context, row)) as Partial<Fact>;
  return plain;
}

async function eventInPlain(context: MemoryContext, event: MemoryEvent): Promise<object> {
  const { before, after } = readPayload(event);
  const payload = {
    ...(event.payload as object),
    ...(before !== null && { before: await openSnapshot(context, before) }),
    ...(after !== null && { after: await openSnapshot(context, after) }),
  };
  return { ...event, payload };
}

/** Oldest first. */
async function listLinksOf(context: MemoryContext, references: readonly MemoryReference[]): Promise<MemoryLink[]> {
  const { tenantId } = context.principal;
  const ends = memoryTypes.map((type) => ({
    type,
    ids: references.filter((one) => one.type === type).map(({ id }) => id),
  }));
  return context.db.client.memoryLink.findMany({
    where: {
      tenantId,
      OR: ends.flatMap(({ type, ids }) => [
        { sourceType: type, sourceId: { in: ids } },
        { targetType: type, targetId: { in: ids } },
      ]),
    },
    orderBy: { createdAt: 'asc' },
  });
}

function isEndOf({ type, id }: MemoryReference, link: MemoryLink): boolean {
  const { sourceType, sourceId, targetType, targetId } = link;
  return (sourceType === type && sourceId === id) || (targetType === type && targetId === id);
}

/** Oldest first. */
async function listReviewsOf(context: MemoryContext, references: readonly MemoryReference[]): Promise<Review[]> {
  const { tenantId } = context.principal;
  const ids = { in: references.filter(({ type }) => type === 'fact').map(({ id }) => id) };
  return context.db.client.review.findMany({
    where: { tenantId, OR: [{ newerId: ids }, { olderId: ids }] },
    orderBy: [{ openedAt: 'asc' }, { id: 'asc' }],
  });
}

/** Lists the quarantined items of these episodes. */
async function listQuarantinedOf(
  { db: { client, tenantId } }: MemoryContext,
  references: readonly MemoryReference[],
): Promise<QuarantinedItem[]> {
  const episodeId = { in: references.filter(({ type }) => type === 'episode').map(({ id }) => id) };
  return client.quarantinedItem.findMany({ where: { tenantId, episodeId }, orderBy: { createdAt: 'asc' } });
}

type ExportedReceipt = Pick<ReceiptOfMemory, 'id' | 'kind' | 'butler' | 'sessionId' | 'query' | 'createdAt'>;

/** By the id of the memory, newest first, also those past their time that are still there. */
async function listReceiptsOf(
  context: MemoryContext,
  references: readonly MemoryReference[],
): Promise<Map<string, ExportedReceipt[]>> {
  const everything = { references, butler: null, at: new Date(0), limit: mostReceipts };
  const rows = await listReceiptsOfMemories(context.db.client, everything);
  const receipts = new Map<string, ExportedReceipt[]>(references.map((reference) => [reference.id, []]));
  for (const { memoryId, id, kind, butler, sessionId, query, createdAt } of rows) {
    receipts.get(memoryId)?.push({ id, kind, butler, sessionId, query, createdAt });
  }
  return receipts;
}

/** The episodes that memories were learned from, or what is left of them, by id. */
async function loadSources(context: MemoryContext, rows: readonly StoredRow[]): Promise<Map<string, object>> {
  const { tenantId } = context.principal;
  const client = context.db.client;
  const ids = [...new Set(rows.flatMap((row) => readSourceId(row) ?? []))];
  if (ids.length === 0) return new Map();
  const where = { tenantId, id: { in: ids } };
  const found = [...(await client.episodeTombstone.findMany({ where })), ...(await client.episode.findMany({ where }))];
  return new Map(found.map((row) => [row.id, row]));
}

function readSourceId(row: object | undefined): string | null {
  return row !== undefined && 'sourceEpisodeId' in row ? (row.sourceEpisodeId as string | null) : null;
}

/** Writes dates as text and sequences as numbers, for JSON. */
function toJson(value: object): ExportedMemory {
  const text = JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? Number(inner) : inner));
  return JSON.parse(text) as ExportedMemory;
}

/** Page after page, so that no more than one of them is held. */
export async function* exportAll(context: MemoryContext, subject: string): AsyncGenerator<ExportedMemory> {
  for (let after: string | null = null; ;) {
    const page: ExportPage = await exportSubject(context, { subject, after, limit: mostExported });
    yield* page.memories;
    if (page.next === null) return;
    after = page.next;
  }
}
