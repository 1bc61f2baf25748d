import type { MemoryEvent } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../context.ts';
import type { HiddenSpans } from '../hidden-spans.ts';
import { asMemory, loadMemories, type Memory } from '../memories.ts';
import { openRow } from '../../encryption/sealing.ts';
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
  const forgotten = events.filter(({ eventType }) => forgettingEvents.includes(eventType)).map(referenceOf);
  const masked = events.filter(({ eventType }) => eventType === 'episode.masked');
  const rows = await loadMemories(context, [...forgotten, ...masked.map(referenceOf)]);
  const opened = await Promise.all([...rows.values()].map((row) => openRow(context, row)));
  const memories = new Map(opened.map((row) => [row.id, asMemory(row)]));
  return {
    memories: forgotten.flatMap(({ id }) => memories.get(id) ?? []),
    hidden: masked
      .toSorted((a, b) => (a.entityId < b.entityId ? -1 : 1))
      .flatMap((event) => listHidden(event, memories.get(event.entityId))),
  };
}

function referenceOf({ entityType, entityId }: MemoryEvent): MemoryReference {
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
