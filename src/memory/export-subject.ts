import { selectFactsAbout, selectMentions } from '../db/sql/erase.ts';
import { invalidInput } from '../errors.ts';
import type { Fact, MemoryEvent, Prisma } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import type { MemoryReference } from './links.ts';
import { loadMemories, referenceKey, type StoredRow } from './memories.ts';
import { openRow, openSnapshot } from './sealing.ts';
import { normaliseName } from './text.ts';
import { payloadOf } from './undo.ts';
import { checkLimit } from './values.ts';

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
export const mostExported = 50;
const mostEvents = 1000;
const mostReceipts = 100;

/**
 * What is known of a subject: the facts about it in whatever state, then the memories that mention it; each with its events,
 * links, source and the receipts that showed it.
 */
export async function exportSubject(context: MemoryContext, input: ExportInput): Promise<ExportPage> {
  const subject = normaliseName('subject', input.subject);
  const limit = checkLimit('first', input.limit, usualPage, mostExported);
  const { tenantId } = context.principal;
  const client = context.db.tenant(tenantId);
  const about = await client.$queryRaw<MemoryReference[]>(selectFactsAbout(tenantId, subject));
  const mentions = await client.$queryRaw<MemoryReference[]>(selectMentions(tenantId, subject));
  const all = [...about, ...mentions];
  const start = startOf(all, input.after);
  const page = all.slice(start, start + limit);
  const last = page.at(-1);
  return {
    memories: await describeAll(context, page, new Set(about.map(({ id }) => id))),
    next: last === undefined || start + limit >= all.length ? null : referenceKey(last),
  };
}

function startOf(all: readonly MemoryReference[], after: string | null | undefined): number {
  if (after == null) return 0;
  const place = all.findIndex((reference) => referenceKey(reference) === after);
  if (place === -1) throw invalidInput('after', 'what the page before gave, of a memory that is still there', after);
  return place + 1;
}

async function describeAll(
  context: MemoryContext,
  references: readonly MemoryReference[],
  about: ReadonlySet<string>,
): Promise<ExportedMemory[]> {
  const rows = await loadMemories(context, references);
  const described: ExportedMemory[] = [];
  for (const reference of references) {
    const row = rows.get(referenceKey(reference));
    const relation = about.has(reference.id) ? 'about' : 'mentions';
    const memory = row === undefined ? null : await inPlain(context, row);
    described.push(toJson({ relation, ...reference, memory, ...(await hangsOn(context, reference, row ?? {})) }));
  }
  return described;
}

/** What is known is told in plain, and not by which key it is kept. */
async function inPlain(context: MemoryContext, row: StoredRow): Promise<object> {
  const { sealedContent: _sealed, dataKeyId: _key, ...plain } = (await openRow(context, row)) as Partial<Fact>;
  return plain;
}

async function eventInPlain(context: MemoryContext, event: MemoryEvent): Promise<object> {
  const { before, after } = payloadOf(event);
  const payload = {
    ...(event.payload as object),
    ...(before !== null && { before: await openSnapshot(context, before) }),
    ...(after !== null && { after: await openSnapshot(context, after) }),
  };
  return { ...event, payload };
}

async function hangsOn(context: MemoryContext, { type, id }: MemoryReference, row: object): Promise<object> {
  const { tenantId } = context.principal;
  const client = context.db.tenant(tenantId);
  const events = await client.memoryEvent.findMany({
    where: { tenantId, entityType: type, entityId: id },
    orderBy: { sequence: 'asc' },
    take: mostEvents,
  });
  const links = await client.memoryLink.findMany({
    where: {
      tenantId,
      OR: [
        { sourceType: type, sourceId: id },
        { targetType: type, targetId: id },
      ],
    },
    orderBy: { createdAt: 'asc' },
  });
  const receipts = await client.contextReceipt.findMany({
    where: { tenantId, memoryIds: { has: id } },
    orderBy: { createdAt: 'desc' },
    select: { id: true, kind: true, butler: true, sessionId: true, query: true, createdAt: true },
    take: mostReceipts,
  });
  const told = await Promise.all(events.map((event) => eventInPlain(context, event)));
  return { source: await sourceOf(context, row), events: told, links, receipts };
}

/** The episode that it was learned from, or what is left of it. */
async function sourceOf(context: MemoryContext, row: object): Promise<object | null> {
  const id = 'sourceEpisodeId' in row ? (row.sourceEpisodeId as string | null) : null;
  if (id === null) return null;
  const { tenantId } = context.principal;
  const client = context.db.tenant(tenantId);
  const where = { tenantId_id: { tenantId, id } };
  return (await client.episode.findUnique({ where })) ?? (await client.episodeTombstone.findUnique({ where }));
}

/** Dates as text and sequences as numbers: whoever reads it has JSON and nothing else. */
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
