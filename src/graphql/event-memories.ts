import type { MemoryEvent } from '../generated/prisma/client.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { MemoryReference } from '../memory/links/links.ts';
import { loadersOf } from './loaders.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memory/memories.ts';
import { memoryTypes } from '../db/tables.ts';

type EventOfMemory = Pick<MemoryEvent, 'entityType' | 'entityId'>;
type Memories = Map<string, StoredRow>;

/** Events that were read together have their memories read together, when the first of them is asked for. */
const together = new WeakMap<EventOfMemory, () => Promise<Memories>>();

export function readMemoriesTogether(context: MemoryContext, events: readonly EventOfMemory[]): void {
  let memories: Promise<Memories> | undefined;
  const load = (): Promise<Memories> => (memories ??= loadMemories(context, events.flatMap(listReferences)));
  for (const event of events) together.set(event, load);
}

/** Null when the event is not about a memory, or the memory is not there any more. */
export async function findMemoryOfEvent(context: MemoryContext, event: EventOfMemory): Promise<StoredRow | null> {
  const [reference] = listReferences(event);
  if (reference === undefined) return null;
  const memories = await together.get(event)?.();
  const row =
    memories?.get(referenceKey(reference)) ?? (memories ? null : await loadersOf(context).memories.load(reference));
  const isGone = row === null || ('expiresAt' in row && row.expiresAt <= context.now());
  return isGone ? null : row;
}

function listReferences({ entityType, entityId }: EventOfMemory): MemoryReference[] {
  const type = memoryTypes.find((name) => name === entityType);
  return type === undefined ? [] : [{ type, id: entityId }];
}
