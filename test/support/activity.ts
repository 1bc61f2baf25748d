import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { findHorizon } from '../../src/db/queries/activity.ts';
import type { EventInput } from '../../src/memory/events.ts';
import { recordEvent } from '../../src/memory/events.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { TestApp } from './app.ts';
import { eventually } from './eventually.ts';

/** The operator of a tenant, on a request of its own. */
export function contextOf({ app }: Pick<TestApp, 'app'>, tenantId = 'default', requestId = 'request'): MemoryContext {
  const { memory } = app.createContext({ requestId });
  return {
    ...memory,
    db: memory.db.database.forTenant(tenantId),
    principal: { tenantId, butler: null, role: 'operator' },
  };
}

/** One transaction that does nothing but write an event. Gives the id of the event. */
export async function writeEvent(context: MemoryContext, event: Partial<EventInput> = {}): Promise<string> {
  const id = event.id ?? randomUUID();
  await context.db.transaction((transaction) =>
    recordEvent(context, transaction, {
      eventType: 'fact.stored',
      entityType: 'fact',
      entityId: randomUUID(),
      after: { scope: 'global' },
      ...event,
      id,
    }),
  );
  return id;
}

/**
 * Until readers go past all events of the tenant: a transaction of another test, in whatever database of the server, may
 * hold them back for a moment.
 */
export async function untilReadable({ db }: MemoryContext): Promise<void> {
  await eventually(async () => expect((await findHorizon(db.client)).heldBackIds).toEqual([]));
}

/** So many writes by so many writers at once. Gives the ids of all events. */
export async function writeMany(context: MemoryContext, count: number, writers: number): Promise<string[]> {
  const shares = Array.from({ length: writers }, (_, writer) =>
    Array.from({ length: Math.ceil((count - writer) / writers) }, () => randomUUID()),
  );
  await Promise.all(
    shares.map(async (ids) => {
      for (const id of ids) await writeEvent(context, { id });
    }),
  );
  return shares.flat();
}

/** Takes this many from a feed, or what it has before it ends, and hangs up. */
export async function take<Item>(feed: AsyncIterableIterator<Item>, count: number): Promise<Item[]> {
  const items: Item[] = [];
  for (let index = 0; index < count; index++) {
    const { done, value } = await feed.next();
    if (done) break;
    items.push(value);
  }
  await feed.return?.();
  return items;
}

/**
 * A client that is cut off again and again, and goes on after the last event that it saw until it has seen `count`.
 * What it sees in one go varies from 1 to 97 events.
 */
export async function followWithCuts(
  count: number,
  openFeed: (after: string | undefined) => Promise<AsyncIterableIterator<string>>,
): Promise<{ seen: string[]; connections: number }> {
  const seen: string[] = [];
  let connections = 0;
  while (seen.length < count) {
    const share = Math.min(1 + ((connections * 37) % 97), count - seen.length);
    seen.push(...(await take(await openFeed(seen.at(-1)), share)));
    connections++;
  }
  return { seen, connections };
}
