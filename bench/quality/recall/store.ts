import { createTenantContext, type MemoryContext } from '../../../src/memory/context.ts';
import { storeFact } from '../../../src/memory/facts/facts.ts';
import { notePredicate } from '../../../src/memory/facts/note-key.ts';
import { storeRule } from '../../../src/memory/rules/rules.ts';
import { asStored } from '../../../src/redaction/redactor.ts';
import { millisecondsPerDay } from '../../../src/shared/durations.ts';
import { withEmbeddedCore } from '../../own-embedded-core.ts';
import type { MemoryToStore } from './data.ts';

/**
 * The questions name dates around this one. Some of the memories have faded by then, as nobody confirmed them for months:
 * they are asked for all the same, since it is the ranking that is measured.
 */
const askedAt = new Date('2026-11-15T12:00:00Z');

/** Runs the work with a store of these memories, whose keys it gets by their ids. */
export function withStore<T>(
  memories: readonly MemoryToStore[],
  work: (context: MemoryContext, keys: ReadonlyMap<string, string>) => Promise<T>,
): Promise<T> {
  return withEmbeddedCore(
    async (core) => {
      const context = createTenantContext(core, 'default');
      const keys = new Map<string, string>();
      for (const memory of memories) keys.set(await store(context, memory), memory.key);
      return work(context, keys);
    },
    { now: () => askedAt },
  );
}

/** Stores a memory as if it were said that many days ago. */
async function store(context: MemoryContext, memory: MemoryToStore): Promise<string> {
  const moment = new Date(askedAt.getTime() - memory.daysAgo * millisecondsPerDay);
  const then: MemoryContext = { ...context, now: () => moment };
  const { type, content, importance, scope, permanence, subject = '' } = memory;
  if (type === 'rule') return (await storeRule(then, { content, importance, scope })).value.id;
  const predicate = type === 'note' ? notePredicate(asStored(content)) : (memory.predicate ?? '');
  const fact = { subject, predicate, content, importance, permanence, scope, observedAt: moment };
  return (await storeFact(then, fact)).value.id;
}
