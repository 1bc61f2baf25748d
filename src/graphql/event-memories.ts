import type { MemoryEvent } from '../generated/prisma/client.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { MemoryReference } from '../memory/links.ts';
import { loadMemories, referenceKey, type MemoryRow } from '../memory/memories.ts';
import { memoryTypes } from '../db/sql/memory-snapshot.ts';

type EventOfMemory = Pick<MemoryEvent, 'entityType' | 'entityId'>;
type Memories = Map<string, MemoryRow>;

/** Events that were read together have their memories read together, when the first of them is asked for. */
const together = new WeakMap<EventOfMemory, () => Promise<Memories>>();
/** For the others: what is asked for within one turn of the event loop. */
const turns = new WeakMap<MemoryContext, { references: MemoryReference[]; memories: Promise<Memories> }>();

export function readMemoriesTogether(context: MemoryContext, events: readonly EventOfMemory[]): void {
  let memories: Promise<Memories> | undefined;
  const load = (): Promise<Memories> => (memories ??= loadMemories(context, events.flatMap(referencesOf)));
  for (const event of events) together.set(event, load);
}

/** Null when the event is not about a memory, or the memory is not there any more. */
export async function findMemoryOfEvent(context: MemoryContext, event: EventOfMemory): Promise<MemoryRow | null> {
  const [reference] = referencesOf(event);
  if (reference === undefined) return null;
  const memories = await (together.get(event)?.() ?? loadInTurn(context, reference));
  const row = memories.get(referenceKey(reference));
  const isGone = row === undefined || ('expiresAt' in row && row.expiresAt <= context.now());
  return isGone ? null : row;
}

function referencesOf({ entityType, entityId }: EventOfMemory): MemoryReference[] {
  const type = memoryTypes.find((name) => name === entityType);
  return type === undefined ? [] : [{ type, id: entityId }];
}

function loadInTurn(context: MemoryContext, reference: MemoryReference): Promise<Memories> {
  const turn = turns.get(context) ?? beginTurn(context);
  turn.references.push(reference);
  return turn.memories;
}

function beginTurn(context: MemoryContext): { references: MemoryReference[]; memories: Promise<Memories> } {
  const references: MemoryReference[] = [];
  const memories = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    turns.delete(context);
    return loadMemories(context, references);
  });
  const turn = { references, memories };
  turns.set(context, turn);
  return turn;
}
