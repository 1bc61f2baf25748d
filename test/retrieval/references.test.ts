import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import type { Database, TenantDatabase } from '../../src/db/database.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { MemoryReference } from '../../src/memory/links/links.ts';
import { getMemory } from '../../src/memory/memories.ts';
import { ReferenceQueue } from '../../src/memory/references.ts';
import { countReferences } from '../support/references.ts';
import { newTenant, useRetrieval } from './setup.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

const retrieval = useRetrieval();
let context: MemoryContext;
let references: MemoryReference[];

beforeEach(async () => {
  context = retrieval.context({ principal: newTenant() });
  references = [
    { type: 'episode', id: (await storeEpisode(context, { butler: 'alfred', content: 'tea' })).id },
    { type: 'fact', id: (await storeFact(context, { subject: 'a', predicate: 'b', content: 'tea' })).id },
    { type: 'rule', id: (await storeRule(context, { content: 'tea' })).id },
  ];
});

const counts = async (): Promise<number[]> =>
  Promise.all(references.map(async (reference) => (await getMemory(context, reference)).row.referenceCount));
const silent = pino({ level: 'silent' });

describe('a reference', () => {
  it('is counted once for each memory of an answer, with its time, and changes nothing else', async () => {
    const before = await Promise.all(references.map((reference) => getMemory(context, reference)));
    await retrieval.after(1, async () => {
      await countReferences(context, [...references, ...references]);
      const after = await Promise.all(references.map((reference) => getMemory(context, reference)));

      const counted = { referenceCount: 1, lastReferencedAt: context.now() };
      const session = { referenceSessions: [expect.stringMatching(/^[0-9a-f]{16}$/) as string] };
      expect(after).toEqual(
        before.map(({ type, row }) => ({ type, row: { ...row, ...counted, ...(type === 'fact' && session) } })),
      );
    });
  });

  it('writes no event', async () => {
    const events = (): Promise<number> => context.db.client.memoryEvent.count();
    const before = await events();
    await countReferences(context, references);

    expect(await events()).toBe(before);
  });

  it('does not reach into another tenant', async () => {
    await countReferences(retrieval.context({ principal: newTenant() }), references);

    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('is not made earlier by a bump that comes late', async () => {
    await retrieval.after(2, () => countReferences(context, references));
    await countReferences(context, references);
    const expected = await retrieval.after(2, async () => context.now());

    for (const reference of references) {
      expect((await getMemory(context, reference)).row).toMatchObject({
        referenceCount: 2,
        lastReferencedAt: expected,
      });
    }
  });

  it('of many callers at once, in any order, is counted each time', async () => {
    const bumps = Array.from({ length: 10 }, (_, index) =>
      countReferences(context, index % 2 ? references : references.toReversed()),
    );
    await Promise.all(bumps);

    expect(await counts()).toEqual([10, 10, 10]);
  });
});

describe('the sessions of a fact', () => {
  const of = (count: number): MemoryContext => {
    const { memory } = context.config;
    const mid = { ...memory.mid, promoteAfterSessions: count };
    return { ...context, config: { ...context.config, memory: { ...memory, mid } } };
  };
  const sessions = async (): Promise<number> => {
    const { tenantId } = context.principal;
    return (await context.db.client.fact.findFirstOrThrow({ where: { tenantId } })).referenceSessions.length;
  };

  it('are counted once each, and without an id one for each butler and UTC day', async () => {
    const by = of(10);
    const jeeves = { ...by, principal: { ...by.principal, butler: 'jeeves' } };
    const [first, second] = [randomUUID(), randomUUID()];
    for (const id of [first, first, second, first, second]) await countReferences(by, references, id);
    expect(await sessions()).toBe(2);
    await countReferences(by, references);
    await countReferences(by, references);
    expect(await sessions()).toBe(3);
    await countReferences(jeeves, references);
    expect(await sessions()).toBe(4);
    await retrieval.after(1, () => countReferences(jeeves, references));
    expect(await sessions()).toBe(5);
  });

  it('are kept up to the number that promotion asks for, however many there are', async () => {
    const queue = new ReferenceQueue({ ...of(3), db: context.db.database, logger: silent });
    for (let answer = 0; answer < 300; answer += 1) queue.enqueue(context, references, randomUUID());
    await queue.flush();
    queue.enqueue(context, references, randomUUID());
    await queue.stop();

    expect(await sessions()).toBe(3);
    expect(await counts()).toEqual([301, 301, 301]);
  });
});

describe('a memory that a context showed', () => {
  it('gets the time of it, and no reference or session', async () => {
    const queue = new ReferenceQueue({ ...context, db: context.db.database, logger: silent });
    const before = await Promise.all(references.map((reference) => getMemory(context, reference)));
    queue.enqueueShown(context, [...references, ...references]);
    await queue.stop();
    const after = await Promise.all(references.map((reference) => getMemory(context, reference)));

    expect(after).toEqual(before.map(({ type, row }) => ({ type, row: { ...row, lastShownAt: context.now() } })));
  });
});

describe('the queue of references', () => {
  const withRoundTrip = (roundTrip: TenantDatabase['roundTrip']): Database => ({
    ...context.db.database,
    forTenant: () => ({ ...context.db, roundTrip }),
  });

  it('writes an answer of many memories in one round trip, with one statement for each type', async () => {
    const sent: number[] = [];
    const db = withRoundTrip((statements, settings) => {
      sent.push(statements.length);
      return context.db.roundTrip(statements, settings);
    });
    const { id } = await storeFact(context, { subject: 'c', predicate: 'd', content: 'tea' });
    const queue = new ReferenceQueue({ ...context, db, logger: silent });
    queue.enqueue(context, [...references, { type: 'fact', id }], null);
    queue.enqueueShown(context, references);
    await queue.stop();

    expect(sent).toEqual([3]);
  });

  it('writes all that was enqueued before a clean stop', async () => {
    const queue = new ReferenceQueue({ ...context, db: context.db.database, logger: silent });
    for (let answer = 0; answer < 5; answer += 1) queue.enqueue(context, references, null);
    const flushing = queue.flush();
    queue.enqueue(context, references, null);
    await queue.stop();
    await flushing;

    expect(await counts()).toEqual([6, 6, 6]);
  });

  it('writes by itself after the answer', async () => {
    await new Promise<void>((resolve) => {
      const db = withRoundTrip(async (...sent) => {
        const answers = await context.db.roundTrip(...sent);
        resolve();
        return answers;
      });
      new ReferenceQueue({ ...context, db, logger: silent }).enqueue(context, references, null);
    });

    expect(await counts()).toEqual([1, 1, 1]);
  });

  it('logs a failure and writes what failed with the next', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
    let isDown = true;
    const db = withRoundTrip((...sent) =>
      isDown ? Promise.reject(new Error('no database')) : context.db.roundTrip(...sent),
    );
    const queue = new ReferenceQueue({ ...context, db, logger });
    queue.enqueue(context, references, null);
    await queue.flush();
    isDown = false;
    queue.enqueue(context, references, null);
    await queue.stop();

    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('references were not written');
    expect(await counts()).toEqual([2, 2, 2]);
  });
});
