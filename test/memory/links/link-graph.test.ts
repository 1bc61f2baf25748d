import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryContext } from '../../../src/memory/context.ts';
import {
  depthLimit,
  followLinks,
  listLinks,
  loadEnds,
  provenanceChoice,
  type LinksChoice,
  type Step,
} from '../../../src/memory/links/link-graph.ts';
import type { MemoryReference, Relation } from '../../../src/memory/links/links.ts';
import { referenceKey } from '../../../src/memory/memories.ts';
import { createTestCore, lastEventOf, type TestCore } from '../../support/core.ts';
import { insertRow, rowOf } from '../../support/rows.ts';
import { forgetMemory, linkMemories, storeEpisode, storeFact, storeRule, undoEvent } from '../../support/writes.ts';

let core: TestCore;
let names = 0;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();
const newName = (): string => `name ${++names}`;

async function newFact(): Promise<MemoryReference> {
  const { id } = await storeFact(context(), { subject: 'user', predicate: newName(), content: 'ramen' });
  return { type: 'fact', id };
}

async function newRule(): Promise<MemoryReference> {
  const { id } = await storeRule(context(), { content: newName() });
  return { type: 'rule', id };
}

async function newEpisode(): Promise<MemoryReference> {
  const { id } = await storeEpisode(context(), { content: newName(), butler: 'health' });
  return { type: 'episode', id };
}

const link = (source: MemoryReference, relation: Relation, target: MemoryReference): ReturnType<typeof linkMemories> =>
  linkMemories(context(), { source, relation, target });

const anyLink: LinksChoice = { direction: 'both', relations: null, limit: 100 };

async function linksOf(end: MemoryReference, choice: Partial<LinksChoice> = {}): Promise<string[]> {
  const links = await listLinks(context(), [end], { ...anyLink, ...choice });
  return (links.get(referenceKey(end)) ?? []).map(
    ({ direction, relation, other }) => `${direction} ${relation} ${other.id}`,
  );
}

const follow = (start: MemoryReference, depth: number, choice: Partial<LinksChoice> = {}): Promise<Step[]> =>
  followLinks(context(), start, { direction: 'outbound', relations: null, depth, ...choice });
const reached = (steps: Step[]): [string, number][] => steps.map(({ link: { other }, depth }) => [other.id, depth]);

describe('linking two memories', () => {
  it('may be done with several relations, each once', async () => {
    const [source, target] = [await newFact(), await newRule()];
    const first = await link(source, 'supports', target);
    const again = await core.onDay(1, () => link(source, 'supports', target));
    await core.onDay(1, () => link(source, 'related_to', target));

    expect(first).toEqual({ source, target, relation: 'supports', createdAt: core.start });
    expect(again).toEqual(first);
    expect(await linksOf(source)).toEqual([`outbound related_to ${target.id}`, `outbound supports ${target.id}`]);
    const created = { entityType: 'link', entityId: { contains: source.id } };
    expect(await core.db.forTenant('default').client.memoryEvent.count({ where: created })).toBe(2);
  });

  it('is refused when one of them is not there, naming it', async () => {
    const [known, unknown] = [await newFact(), { type: 'rule', id: randomUUID() } as const];
    const message = (end: string): unknown => expect.stringMatching(`^${end}: rule ${unknown.id} is not there`);

    await expect(link(unknown, 'supports', known)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: message('source'),
    });
    await expect(link(known, 'supports', unknown)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: message('target'),
    });
    await expect(link(known, 'supports', { type: 'rule', id: known.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is refused across tenants, and another tenant sees no link', async () => {
    const foreign = core.context({ tenantId: 'other' });
    const [own, target] = [await newFact(), await newFact()];
    const { id } = await storeFact(foreign, { subject: 'user', predicate: 'food', content: 'ramen' });
    const ends = { source: { type: 'fact', id } as const, target: own, relation: 'supports' } as const;
    await link(own, 'supports', target);

    await expect(linkMemories(foreign, ends)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(linkMemories(context(), ends)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect([...(await listLinks(foreign, [own], anyLink)).values()]).toEqual([[]]);
    expect(await followLinks(foreign, own, { ...provenanceChoice, depth: 2 })).toEqual([]);
    expect((await loadEnds(foreign, [own])).size).toBe(0);
  });

  it('is refused with itself, with what is no id, and as a supersession between facts', async () => {
    const [one, two, rule] = [await newFact(), await newFact(), await newRule()];

    await expect(link(one, 'supports', one)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(link(one, 'supports', { type: 'fact', id: 'x' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^target\.id must be /),
    });
    await expect(link(one, 'supersedes', two)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      hint: expect.stringContaining('subject and predicate'),
    });
    expect(await link(rule, 'supersedes', await newRule())).toMatchObject({ relation: 'supersedes' });
  });

  it('is done once for one idempotency key, which may outlive the link', async () => {
    const input = {
      source: await newFact(),
      target: await newFact(),
      relation: 'supports',
      idempotencyKey: newName(),
    } as const;
    const first = await linkMemories(context(), input);
    expect(await linkMemories(context(), input)).toEqual(first);

    const made = await lastEventOf(core, `fact:${input.source.id} supports fact:${input.target.id}`);
    await undoEvent(context(), { eventId: made });
    await expect(linkMemories(context(), input)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the links of a memory', () => {
  it('are seen from either end, by direction and relation', async () => {
    const [center, source, target] = [await newFact(), await newRule(), await newEpisode()];
    await link(source, 'supports', center);
    await core.onDay(1, () => link(center, 'derived_from', target));

    const [inbound, outbound] = [`inbound supports ${source.id}`, `outbound derived_from ${target.id}`];
    expect(await linksOf(center)).toEqual([outbound, inbound]);
    expect(await linksOf(center, { direction: 'inbound' })).toEqual([inbound]);
    expect(await linksOf(center, { direction: 'outbound' })).toEqual([outbound]);
    expect(await linksOf(center, { relations: ['supports', 'contradicts'] })).toEqual([inbound]);
    expect(await linksOf(center, { relations: [] })).toEqual([outbound, inbound]);
    expect(await linksOf(source)).toEqual([`outbound supports ${center.id}`]);
  });

  it('are at most so many of each, the newest', async () => {
    const [first, second, target] = [await newFact(), await newFact(), await newRule()];
    for (const [number, relation] of (['supports', 'related_to', 'contradicts'] as const).entries()) {
      await core.onDay(number, () => link(first, relation, target));
    }
    await link(second, 'supports', target);
    const links = await listLinks(context(), [first, second, target], { ...anyLink, limit: 2 });

    expect([...links.values()].map((list) => list.map(({ relation }) => relation))).toEqual([
      ['contradicts', 'related_to'],
      ['supports'],
      ['contradicts', 'related_to'],
    ]);
    expect(await listLinks(context(), [], anyLink)).toEqual(new Map());
  });
});

describe('the end of a link', () => {
  it('is the memory, also one that is forgotten', async () => {
    const [fact, rule, episode] = [await newFact(), await newRule(), await newEpisode()];
    await forgetMemory(context(), fact);
    const ends = await loadEnds(context(), [fact, rule, episode]);

    for (const end of [fact, rule, episode]) {
      expect(ends.get(referenceKey(end))).toMatchObject({ kind: 'memory', row: { id: end.id } });
    }
  });

  it('is a tombstone without content for an episode past its time, swept or not, and nothing for an unknown one', async () => {
    const [expired, deleted] = [await newEpisode(), await newEpisode()];
    const source = await newFact();
    await link(source, 'derived_from', deleted);
    await core.db.asOwner(async (client) => {
      await client.query('UPDATE episodes SET expires_at = $1 WHERE id = $2', [core.day(-1), expired.id]);
      const tombstone = { id: deleted.id, reason: 'capacity', created_at: core.start, deleted_at: core.day(1) };
      await insertRow(client, 'episode_tombstones', rowOf('episode_tombstones', 'default', tombstone));
      await client.query('DELETE FROM episodes WHERE id = $1', [deleted.id]);
    });
    const unknown = { type: 'episode', id: randomUUID() } as const;
    const ends = await loadEnds(context(), [expired, deleted, unknown]);

    expect(Object.fromEntries(ends)).toEqual({
      [referenceKey(expired)]: {
        kind: 'tombstone',
        tombstone: { ...expired, reason: 'expired', createdAt: core.start, deletedAt: core.day(-1) },
      },
      [referenceKey(deleted)]: {
        kind: 'tombstone',
        tombstone: { ...deleted, reason: 'capacity', createdAt: core.start, deletedAt: core.day(1) },
      },
    });
    expect(await follow(source, 1)).toMatchObject([{ depth: 1, end: { kind: 'tombstone' } }]);
    expect(await link(source, 'supports', deleted)).toMatchObject({ target: deleted });
  });
});

describe('following links', () => {
  it('reaches each memory once, by a shortest way, and ends in a cycle', async () => {
    const [one, two, three, four] = [await newFact(), await newFact(), await newFact(), await newFact()];
    await link(one, 'supports', two);
    await link(one, 'related_to', two);
    await link(two, 'supports', three);
    await link(three, 'supports', one);
    await core.onDay(-1, () => link(one, 'supports', four));
    await link(four, 'supports', three);

    expect(reached(await follow(one, depthLimit))).toEqual([
      [two.id, 1],
      [four.id, 1],
      [three.id, 2],
    ]);
    expect(reached(await follow(one, 1, { direction: 'inbound' }))).toEqual([[three.id, 1]]);
    expect(
      reached(await follow(one, 1, { direction: 'both' }))
        .map(([id]) => id)
        .toSorted(),
    ).toEqual([two.id, three.id, four.id].toSorted());
  });

  it('goes as deep as it is told', async () => {
    const chain = [await newFact()];
    for (let length = 1; length <= 4; length++) {
      const next = await newFact();
      await link(chain.at(-1) as MemoryReference, 'derived_from', next);
      chain.push(next);
    }
    const [start, ...others] = chain as [MemoryReference, ...MemoryReference[]];

    for (const depth of [1, 3, depthLimit]) {
      expect(reached(await follow(start, depth))).toEqual(
        others.slice(0, depth).map(({ id }, place) => [id, place + 1]),
      );
    }
    for (const depth of [0, depthLimit + 1, NaN]) {
      await expect(follow(start, depth)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  it('starts at an id however it is written, and refuses what is none', async () => {
    const [start, other] = [await newFact(), await newFact()];
    await link(start, 'supports', other);
    await link(other, 'supports', start);

    expect(reached(await follow({ ...start, id: start.id.toUpperCase() }, 5))).toEqual([[other.id, 1]]);
    expect(await follow({ type: 'rule', id: randomUUID() }, 5)).toEqual([]);
    await expect(follow({ type: 'rule', id: 'x' }, 5)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('tells where a memory came from: what it was derived from, replaced and was supported by', async () => {
    const [rule, helper, episode, other] = [await newRule(), await newRule(), await newEpisode(), await newFact()];
    const predicate = newName();
    const old = await storeFact(context(), { subject: 'user', predicate, content: 'a', sourceEpisodeId: episode.id });
    const fact = await storeFact(context(), { subject: 'user', predicate, content: 'b' });
    await link(rule, 'derived_from', { type: 'fact', id: fact.id });
    await link(helper, 'supports', rule);
    await link(rule, 'contradicts', other);

    const steps = await followLinks(context(), rule, { ...provenanceChoice, depth: 5 });
    expect(reached(steps)).toEqual([
      [fact.id, 1],
      [old.id, 2],
      [episode.id, 3],
    ]);
    expect(steps.map(({ link: { relation } }) => relation)).toEqual(['derived_from', 'supersedes', 'derived_from']);
    expect(steps[2]?.end).toMatchObject({ kind: 'memory', row: { butler: 'health' } });
  });

  it('stops at its limits: so many links of one memory, so many steps in all', async () => {
    const [start, hub] = [await newFact(), await newFact()];
    await link(start, 'supports', hub);
    await core.db.asOwner((client) =>
      client.query(
        `WITH made AS (
           INSERT INTO rules (tenant_id, id, content, created_at)
           SELECT 'default', gen_random_uuid(), 'rule ' || n, now() FROM generate_series(1, 1200) n RETURNING id
         ), numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS n FROM made)
         INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
         SELECT 'default', CASE WHEN n <= 60 THEN 'fact' ELSE 'rule' END,
           CASE WHEN n <= 60 THEN $1::uuid ELSE (SELECT id FROM numbered h WHERE h.n = 1 + numbered.n % 60) END,
           'rule', id, 'supports', now()
         FROM numbered ORDER BY n`,
        [hub.id],
      ),
    );

    const steps = await follow(start, 3);
    expect([1, 2, 3].map((level) => steps.filter(({ depth }) => depth === level).length)).toEqual([1, 50, 449]);
    expect(steps.every(({ end }) => end?.kind === 'memory')).toBe(true);
  });
});
