import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effectiveConfidence } from '../../../src/memory/confidence.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import type { StoreFactInput } from '../../../src/memory/facts/fact-values.ts';
import { findMemoryAsOf, listEventsOf, readHistory, readStates } from '../../../src/memory/history/history.ts';
import { findMemory } from '../../../src/memory/memories.ts';
import { viewedAt, type PastRow } from '../../../src/memory/history/snapshots.ts';
import { createTestCore, lastEventOf, type TestCore } from '../../support/core.ts';
import {
  confirmMemory,
  forgetMemory,
  markRule,
  storeEpisode,
  storeFact,
  storeRule,
  undoEvent,
} from '../../support/writes.ts';

let core: TestCore;
let names = 0;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();
const newName = (): string => `name ${++names}`;

const store = (input: Partial<StoreFactInput> = {}): Promise<Fact> =>
  storeFact(context(), { subject: 'user', predicate: newName(), content: 'ramen', ...input });

async function asOf(type: 'episode' | 'fact' | 'rule', id: string, number: number): Promise<PastRow | null> {
  return findMemoryAsOf(context(), { type, id }, core.day(number));
}

describe('a memory as of a moment', () => {
  it('is null before it was stored, and as it was stored from then on', async () => {
    const fact = await core.onDay(1, () => store({ confidence: 0.8, tags: ['a'], metadata: { met_at: 'noon' } }));

    expect(await asOf('fact', fact.id, 0.9)).toBeNull();
    expect(await asOf('fact', fact.id, 1)).toEqual({ ...kept(fact), viewedAt: core.day(1) });
  });

  it('has the effective confidence that was seen then', async () => {
    const fact = await store({ confidence: 0.9, permanence: 'volatile' });
    const seen = await core.onDay(10, async () => {
      const found = await findMemory(context(), { type: 'fact', id: fact.id });
      return effectiveConfidence(found?.row as Fact, context().now());
    });
    await core.onDay(20, () => confirmMemory(context(), { type: 'fact', id: fact.id }));

    const past = (await asOf('fact', fact.id, 10)) as PastRow & Fact;
    expect(past.lastConfirmedAt).toEqual(core.start);
    expect(effectiveConfidence(past, viewedAt(past, core.day(99)))).toBe(seen);
    const confirmed = (await asOf('fact', fact.id, 20)) as PastRow & Fact;
    expect(effectiveConfidence(confirmed, viewedAt(confirmed, core.day(99)))).toBe(0.9);
    expect(viewedAt(fact, core.day(99))).toEqual(core.day(99));
  });

  it('has the maturity and the counters of then', async () => {
    const rule = await storeRule(context(), { content: newName() });
    for (let count = 1; count <= 5; count++) {
      await core.onDay(count, () => markRule(context(), { ruleId: rule.id, outcome: 'helpful' }));
    }

    expect(await asOf('rule', rule.id, 0)).toMatchObject({ maturity: 'candidate', successCount: 0, appliedCount: 0 });
    expect(await asOf('rule', rule.id, 4)).toMatchObject({ maturity: 'candidate', successCount: 4, appliedCount: 4 });
    expect(await asOf('rule', rule.id, 5)).toMatchObject({ maturity: 'established', successCount: 5 });
  });

  it('is superseded, forgotten and restored by an undo at their times', async () => {
    const predicate = newName();
    const old = await store({ predicate });
    await core.onDay(1, () => store({ predicate, content: 'soba' }));
    const other = await store();
    await core.onDay(1, () => forgetMemory(context(), { type: 'fact', id: other.id }));
    const forgotten = await lastEventOf(core, other.id);
    await core.onDay(2, () => undoEvent(context(), { eventId: forgotten }));

    expect(await asOf('fact', old.id, 0.5)).toMatchObject({ validity: 'active', supersededAt: null });
    expect(await asOf('fact', old.id, 1)).toMatchObject({ validity: 'superseded', supersededAt: core.day(1) });
    expect(await asOf('fact', other.id, 1.5)).toMatchObject({ validity: 'retracted' });
    expect(await asOf('fact', other.id, 2)).toMatchObject({ validity: 'active' });
  });

  it('is null for an episode past its time', async () => {
    const episode = await storeEpisode(context(), { content: 'had lunch', butler: 'health' });

    expect(await asOf('episode', episode.id, 1)).toMatchObject({ butler: 'health', consolidated: false });
    expect(await findMemoryAsOf(context(), { type: 'episode', id: episode.id }, episode.expiresAt)).toBeNull();
  });

  it('is refused for what is no id and no moment', async () => {
    await expect(asOf('fact', 'ramen', 1)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(findMemoryAsOf(context(), { type: 'fact', id: randomUUID() }, new Date(NaN))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^at must be /),
    });
  });

  it('of another tenant is not there', async () => {
    const fact = await store();
    const foreign = core.context({ tenantId: 'other' });

    expect(await findMemoryAsOf(foreign, { type: 'fact', id: fact.id }, core.day(1))).toBeNull();
    await expect(readHistory(foreign, { type: 'fact', id: fact.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the history of a memory', () => {
  it('tells each state, oldest first, with the event and what it changed', async () => {
    const fact = await store({ confidence: 0.7 });
    await core.onDay(1, () => store({ predicate: fact.predicate, confidence: 0.9 }));
    await core.onDay(2, () => forgetMemory(context(), { type: 'fact', id: fact.id }));

    const versions = await readHistory(context(), { type: 'fact', id: fact.id.toUpperCase() });
    expect(versions.map(({ event }) => event.eventType)).toEqual(['fact.stored', 'fact.confirmed', 'fact.retracted']);
    expect(versions.map(({ memory }) => (memory as Fact).confidence)).toEqual([0.7, 0.9, 0.9]);
    expect(versions.map(({ memory }) => memory?.viewedAt)).toEqual([core.start, core.day(1), core.day(2)]);
    expect(versions[0]?.changes).toContain('content');
    expect(versions[1]?.changes.toSorted()).toEqual(['confidence', 'lastConfirmedAt']);
    expect(versions[2]?.changes).toEqual(['validity']);
  });

  it('has its latest events, of several memories at once, the newest first', async () => {
    const [one, two] = [await store(), await store()];
    await confirmMemory(context(), { type: 'fact', id: one.id });
    await forgetMemory(context(), { type: 'fact', id: one.id });
    const references = [one, two].map(({ id }) => ({ type: 'fact', id }) as const);
    const events = await listEventsOf(context(), references, 2);

    expect(events.get(`fact:${one.id}`)?.map(({ eventType }) => eventType)).toEqual([
      'fact.retracted',
      'fact.confirmed',
    ]);
    expect(events.get(`fact:${two.id}`)).toMatchObject([{ eventType: 'fact.stored' }]);
    expect(await listEventsOf(context(), [], 2)).toEqual(new Map());
  });

  it('of an unknown memory is not there', async () => {
    await expect(readHistory(context(), { type: 'fact', id: randomUUID() })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('the memories of a type as of a moment', () => {
  let other: TestCore;
  let ids: string[];
  const read = (query: Partial<Parameters<typeof readStates>[1]>): ReturnType<typeof readStates> =>
    readStates(other.context(), { type: 'fact', at: core.day(10), limit: 10, ...query });

  beforeAll(async () => {
    other = await createTestCore();
    ids = [];
    for (const [number, predicate] of ['food', 'drink', 'food', 'sport'].entries()) {
      other.clock.now = core.day(number);
      const scope = predicate === 'sport' ? 'health' : 'global';
      const input = { subject: 'User', predicate, content: `like ${number}`, scope };
      ids.push((await storeFact(other.context(), input)).id);
    }
  });
  afterAll(() => other.close());

  const idsOf = ({ rows }: { rows: PastRow[] }): string[] => rows.map(({ id }) => id);

  it('come in the order in which they were stored, page by page, with their total', async () => {
    const pages = [await read({ limit: 3 }), await read({ limit: 3, offset: 3 })];

    expect(pages.flatMap(idsOf)).toEqual(ids);
    expect(pages.map(({ total }) => total)).toEqual([4, 4]);
  });

  it('have their total on an empty page and one behind the last too', async () => {
    expect(await read({ limit: 0 })).toEqual({ rows: [], total: 4 });
    expect(await read({ offset: 9 })).toEqual({ rows: [], total: 4 });
  });

  it('are those that were there', async () => {
    expect(idsOf(await read({ at: core.day(1) }))).toEqual(ids.slice(0, 2));
    expect(await read({ at: core.day(-1) })).toEqual({ rows: [], total: 0 });
  });

  it('are filtered by what they were then', async () => {
    const live = { equal: { validity: ['active', 'fading'] } };
    expect(idsOf(await read({ ...live, at: core.day(1) }))).toEqual([ids[0], ids[1]]);
    expect(idsOf(await read(live))).toEqual([ids[1], ids[2], ids[3]]);
    expect(idsOf(await read({ equal: { validity: ['superseded'] } }))).toEqual([ids[0]]);
    expect(idsOf(await read({ equal: { scope: ['health'], validity: ['active'] } }))).toEqual([ids[3]]);
    expect(idsOf(await read({ subject: ' USER', predicateKey: 'food' }))).toEqual([ids[0], ids[2]]);
    expect(await read({ subject: 'somebody else' })).toEqual({ rows: [], total: 0 });
    expect(await read({ type: 'rule', equal: { maturity: ['candidate'] } })).toEqual({ rows: [], total: 0 });
  });
});

/** A row as its events keep it: without the normalised key and the versions of its vectors. */
function kept(fact: Fact): object {
  const leftOut = ['subjectKey', 'predicateKey', 'valueKey', 'embeddingVersionId', 'alternateEmbeddingVersionId'];
  return Object.fromEntries(Object.entries(fact).filter(([name]) => !leftOut.includes(name)));
}
