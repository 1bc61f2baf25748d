import type { MemoryEvent } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../context.ts';
import { asReported, type HiddenSpans } from './hidden-spans.ts';
import { asMemory, loadMemories, type Memory } from '../memories.ts';
import { openRow } from '../../encryption/sealing.ts';
import { forgottenEvent } from './forgotten-columns.ts';
import { readPayload } from '../history/snapshots.ts';
import type { MemoryReference } from '../links/links.ts';
import { cutSpans, subtractSpans, type Span } from '../spans.ts';

/** A part of an episode that is hidden. */
export interface HiddenText {
  episodeId: string;
  text: string;
}

/** What one change forgot, or would forget. */
export interface Forgetting {
  memories: Memory[];
  /** Oldest episode first. */
  hidden: HiddenText[];
}

const forgettingEvents = ['fact.retracted', 'rule.forgotten', 'episode.forgotten'];

/** Lists what a change forgot, by its events: the same each time, whatever happened since. Only what the caller reaches. */
export async function describeForgetting(context: MemoryContext, eventId: string): Promise<Forgetting> {
  const { tenantId } = context.principal;
  const events = await context.db.client.memoryEvent.findMany({
    where: { tenantId, OR: [{ id: eventId }, { causeEventId: eventId }] },
    orderBy: { sequence: 'asc' },
  });
  const forgotten = events.filter(({ eventType }) => forgettingEvents.includes(eventType)).map(toReference);
  const masked = events.filter(({ eventType }) => eventType === 'episode.masked');
  const rows = await loadMemories(context, [...forgotten, ...masked.map(toReference)]);
  const opened = await Promise.all([...rows.values()].map((row) => openRow(context, row)));
  const memories = new Map(opened.map((row) => [row.id, asMemory(asReported(row))]));
  return {
    memories: forgotten.flatMap(({ id }) => memories.get(id) ?? []),
    hidden: masked
      .toSorted((a, b) => (a.entityId < b.entityId ? -1 : 1))
      .flatMap((event) => listHidden(event, memories.get(event.entityId))),
  };
}

/** Lists the episodes that were forgotten with a memory as its sources, and were not touched since. */
export async function listTakenSources(context: MemoryContext, { type, id }: MemoryReference): Promise<string[]> {
  const { tenantId } = context.principal;
  const { memoryEvent, episode } = context.db.client;
  const event = await memoryEvent.findFirst({
    where: { tenantId, entityType: type, entityId: id, eventType: forgottenEvent(type) },
    orderBy: { sequence: 'desc' },
  });
  if (event === null) return [];
  const followed = await memoryEvent.findMany({ where: { tenantId, causeEventId: event.id } });
  // A topic has many memories, and its episodes say more than one of them.
  if (followed.some(({ eventType }) => ['fact.retracted', 'rule.forgotten'].includes(eventType))) return [];
  const taken = followed.filter(({ eventType }) => eventType === 'episode.forgotten').map(({ entityId }) => entityId);
  const rows = await episode.findMany({ where: { tenantId, id: { in: taken }, forgottenAt: event.occurredAt } });
  return rows.map((row) => row.id);
}

function toReference({ entityType, entityId }: MemoryEvent): MemoryReference {
  return { type: entityType as MemoryReference['type'], id: entityId };
}

/** None of an episode that was forgotten before: its text was not read any more. */
function listHidden(event: MemoryEvent, episode: Memory | undefined): HiddenText[] {
  const { before, after } = readPayload(event);
  if (episode === undefined || (before?.['forgotten_at'] ?? null) !== null) return [];
  const [earlier, now] = [spansIn(before?.['hidden_spans']), spansIn(after?.['hidden_spans'])];
  return toHiddenTexts(episode.row, subtractSpans(now, earlier));
}

function spansIn(hidden: unknown): Span[] {
  return Object.values((hidden ?? {}) as HiddenSpans).flat();
}

export function toHiddenTexts({ id, content }: { id: string; content: string }, spans: readonly Span[]): HiddenText[] {
  return cutSpans(content, spans).map((text) => ({ episodeId: id, text }));
}
