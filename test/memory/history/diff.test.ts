import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { countChanges, listChanges, type MemoryChange, type Span } from '../../../src/memory/history/diff.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import { createTestCore, lastEventOf, type TestCore } from '../../support/core.ts';
import {
  confirmMemory,
  forgetMemory,
  markRule,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeRule,
  undoEvent,
} from '../../support/writes.ts';

let core: TestCore;
let ids: Record<string, string>;

const context = (): MemoryContext => core.context();
const store = (predicate: string, content: string): Promise<Fact> =>
  storeFact(context(), { subject: 'user', predicate, content });
const between = (from: number, to: number, types?: Span['types']): Span => ({
  from: core.day(from),
  to: core.day(to),
  types,
});

async function list(span: Span): Promise<Map<string, MemoryChange>> {
  const { changes, total } = await listChanges(context(), span, { offset: 0, limit: 100 });
  expect(changes).toHaveLength(total);
  return new Map(changes.map((change) => [change.id, change]));
}

/** Day 0: all is stored. Day 1: one of each kind of change. Day 2: what was forgotten comes back. */
beforeAll(async () => {
  core = await createTestCore();
  const before = {
    replaced: await store('food', 'ramen'),
    forgotten: await store('drink', 'tea'),
    confirmed: await store('sport', 'chess'),
    undone: await store('city', 'Rome'),
    untouched: await store('pet', 'cat'),
    episode: await storeEpisode(context(), { content: 'had lunch', butler: 'health' }),
    rule: await storeRule(context(), { content: 'ask before lunch' }),
  };
  const successor = await core.onDay(1, async () => {
    await forgetMemory(context(), { type: 'fact', id: before.forgotten.id });
    await forgetMemory(context(), { type: 'episode', id: before.episode.id });
    await confirmMemory(context(), { type: 'fact', id: before.confirmed.id });
    await forgetMemory(context(), { type: 'fact', id: before.undone.id });
    await undoEvent(context(), { eventId: await lastEventOf(core, before.undone.id) });
    await markRule(context(), { ruleId: before.rule.id, outcome: 'helpful' });
    await markRule(context(), { ruleId: before.rule.id, outcome: 'helpful' });
    return store('food', 'soba');
  });
  await core.onDay(2, () => restoreMemory(context(), { type: 'fact', id: before.forgotten.id }));
  await core.onDay(2, () => restoreMemory(context(), { type: 'episode', id: before.episode.id }));
  ids = Object.fromEntries(Object.entries({ ...before, successor }).map(([name, { id }]) => [name, id]));
});
afterAll(() => core.close());

const kindsOf = (changes: Map<string, MemoryChange>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ids).flatMap(([name, id]) => {
      const change = changes.get(id);
      return change === undefined ? [] : [[name, change.kind]];
    }),
  );

describe('the difference between two moments', () => {
  it('names what became of each memory, and leaves out what was changed and undone', async () => {
    expect(kindsOf(await list(between(0, 1)))).toEqual({
      replaced: 'superseded',
      successor: 'created',
      forgotten: 'forgotten',
      episode: 'forgotten',
      confirmed: 'changed',
      rule: 'changed',
    });
    expect(kindsOf(await list(between(1, 2)))).toEqual({ forgotten: 'restored', episode: 'restored' });
  });

  it('holds from after the first moment until the second, with it', async () => {
    const names = Object.keys(ids).filter((name) => name !== 'successor');

    expect(Object.keys(kindsOf(await list(between(-1, 0)))).toSorted()).toEqual(names.toSorted());
    expect(kindsOf(await list(between(0, 0.9)))).toEqual({});
    expect(kindsOf(await list(between(0, 0)))).toEqual({});
  });

  it('shows what was both created and replaced as what it is in the end', async () => {
    const changes = await list(between(-1, 1));

    expect(changes.get(ids['replaced'] ?? '')).toMatchObject({ kind: 'superseded', before: null, eventCount: 2 });
    // Forgotten and restored within the span is no change beyond the creation.
    expect(kindsOf(await list(between(-1, 2)))).toMatchObject({ forgotten: 'created', undone: 'created' });
    expect(kindsOf(await list(between(0, 2)))).not.toHaveProperty('forgotten');
  });

  it('carries both states, each as it was seen then, and the columns between them', async () => {
    const changes = await list(between(0, 1));

    const rule = changes.get(ids['rule'] ?? '');
    expect(rule).toMatchObject({
      type: 'rule',
      eventCount: 2,
      before: { successCount: 0, viewedAt: core.day(0) },
      after: { successCount: 2, viewedAt: core.day(1) },
    });
    expect(rule?.changes).toEqual(expect.arrayContaining(['successCount', 'appliedCount', 'effectivenessScore']));
    expect(changes.get(ids['confirmed'] ?? '')?.changes).toEqual(['lastConfirmedAt']);
    expect(changes.get(ids['successor'] ?? '')).toMatchObject({ before: null, after: { content: 'soba' } });
  });

  it('is counted as it is listed, by type and kind', async () => {
    for (const span of [between(-1, 2), between(0, 1), between(1, 2), between(0, 0), between(0, 1, ['rule', 'fact'])]) {
      const counted = new Map<string, number>();
      for (const { type, kind } of (await list(span)).values()) {
        counted.set(`${type} ${kind}`, (counted.get(`${type} ${kind}`) ?? 0) + 1);
      }
      const counts = await countChanges(context(), span);
      expect(new Map(counts.map(({ type, kind, count }) => [`${type} ${kind}`, count]))).toEqual(counted);
    }
  });

  it('is of the types that are named, or of all when none is', async () => {
    expect(kindsOf(await list(between(0, 1, ['rule'])))).toEqual({ rule: 'changed' });
    expect(await list(between(0, 1, []))).toEqual(await list(between(0, 1)));
  });

  it('comes in pages, the last change first, each with the total', async () => {
    const whole = [...(await list(between(-1, 2))).keys()];
    const pages = await Promise.all(
      [0, 3, 6, 9].map((offset) => listChanges(context(), between(-1, 2), { offset, limit: 3 })),
    );

    expect(pages.flatMap(({ changes }) => changes.map(({ id }) => id))).toEqual(whole);
    expect(pages.map(({ total }) => total)).toEqual([8, 8, 8, 8]);
    expect(whole[0]).toBe(ids['episode']);
  });

  it('is refused when it ends before it begins', async () => {
    const refusal = { code: 'INVALID_INPUT', message: expect.stringMatching(/^to must be not before from \(got/) };
    await expect(list(between(2, 1))).rejects.toMatchObject(refusal);
    await expect(countChanges(context(), between(2, 1))).rejects.toMatchObject(refusal);
  });

  it('of another tenant is empty', async () => {
    const foreign = core.context({ tenantId: 'other' });
    expect(await listChanges(foreign, between(-1, 2), { offset: 0, limit: 9 })).toEqual({ changes: [], total: 0 });
  });
});
