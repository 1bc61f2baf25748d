import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRows } from '../../../src/encryption/sealing.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { StoreFactInput } from '../../../src/memory/facts/fact-values.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import { predicateKey, predicateGroups } from '../../../src/memory/facts/lexicon.ts';
import { findLookAlikes } from '../../../src/memory/facts/look-alikes.ts';
import { rekeyFacts } from '../../../src/memory/facts/rekey.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { countList } from '../../../src/memory/lists.ts';
import { createTestCore, lastEventOf, type TestCore } from '../../support/core.ts';
import { forgetMemory, storeFact, undoEvent } from '../../support/writes.ts';

let core: TestCore;
let subjects = 0;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();
const newSubject = (): string => `guest ${++subjects}`;
const store = (
  subject: string,
  predicate: string,
  content: string,
  more: Partial<StoreFactInput> = {},
): Promise<Fact> => storeFact(context(), { subject, predicate, content, ...more });

async function live(subject: string): Promise<string[]> {
  const where = { subject, validity: { in: ['active', 'fading'] } };
  const facts = await core.db
    .forTenant('default')
    .client.fact.findMany({ where, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  return (await openRows(context(), facts)).map(({ predicate, content }) => `${predicate}: ${content}`);
}

describe('one thing under several names', () => {
  it.each([
    ['lives_in', 'home_city'],
    ['employer', 'works_at'],
    ['phone', 'Phone Number'],
  ])('%s is superseded by %s, which keeps its name', async (one, other) => {
    const subject = newSubject();
    const first = await store(subject, one, 'one');
    const second = await store(subject, other, 'other');
    expect(second).toMatchObject({ supersedesId: first.id, predicate: other });
    expect(await live(subject)).toEqual([`${other}: other`]);
  });

  it('has one live fact whatever names of a group are used, and undo brings the one before back', async () => {
    for (const { names } of predicateGroups.filter((_, index) => index % 40 === 0)) {
      const subject = newSubject();
      const several = false;
      let last: Fact | null = null;
      for (const [place, name] of names.entries()) last = await store(subject, name, `value ${place}`, { several });
      expect(await live(subject)).toEqual([`${names.at(-1)}: value ${names.length - 1}`]);
      if (last === null || names.length < 2) continue;
      await undoEvent(context(), { eventId: await lastEventOf(core, last.id, 'fact.stored') });
      expect(await live(subject)).toEqual([`${names.at(-2)}: value ${names.length - 2}`]);
    }
  });

  it('is listed by any of its names', async () => {
    const subject = newSubject();
    await store(subject, 'home_city', 'Porto');
    const filter = { subject, predicate: 'Lives In' };
    expect(await countList(context(), { type: 'fact', filter })).toBe(1);
    expect(await countList(context(), { type: 'fact', filter: { ...filter, predicate: 'hometown' } })).toBe(0);
  });
});

describe('a predicate that holds several values', () => {
  it('keeps them side by side, and supersedes, confirms and forgets one alone', async () => {
    const subject = newSubject();
    const tea = await store(subject, 'likes', 'tea');
    await store(subject, 'enjoys', 'jazz');
    expect((await store(subject, 'likes', 'tea')).id).toBe(tea.id);
    expect(await live(subject)).toEqual(['likes: tea', 'enjoys: jazz']);
    await store(subject, 'likes', 'Tea.');
    expect(await live(subject)).toEqual(['enjoys: jazz', 'likes: Tea.']);
    await forgetMemory(context(), { type: 'fact', id: tea.id }).catch(() => null);
    expect(await live(subject)).toContain('enjoys: jazz');
  });

  it('is told by an argument, or not at all', async () => {
    const subject = newSubject();
    await store(subject, 'garden_tool', 'spade', { several: true });
    await store(subject, 'garden_tool', 'rake', { several: true });
    expect(await live(subject)).toHaveLength(2);
    await store(subject, 'garden_tool', 'hoe', { several: false });
    expect(await live(subject)).toEqual(['garden_tool: hoe']);
    const { config } = core;
    const memory = { ...config.memory, facts: { ...config.memory.facts, severalValues: [] } };
    const plain = { ...context(), config: { ...config, memory } };
    for (const content of ['tea', 'jazz']) await storeFact(plain, { subject, predicate: 'likes', content });
    expect(await live(subject)).toEqual(['garden_tool: hoe', 'likes: jazz']);
  });

  it('cannot have one value twice, not even by raw SQL', async () => {
    const subject = newSubject();
    const { id } = await store(subject, 'likes', 'tea');
    const copy = core.db.asOwner((client) =>
      client.query(
        `INSERT INTO facts (tenant_id, id, subject, predicate, predicate_key, value_key, content, recorded_at, created_at)
         SELECT tenant_id, gen_random_uuid(), subject, predicate, predicate_key, value_key, 'TEA', recorded_at, created_at
         FROM facts WHERE id = $1`,
        [id],
      ),
    );
    await expect(copy).rejects.toThrow('facts_one_live_per_key');
  });
});

describe('a fact under a name that the lexicon does not know', () => {
  it('names what looks alike, and replaces what the caller names', async () => {
    const subject = newSubject();
    const first = await store(subject, 'gate_code', '4711');
    await store(subject, 'dog', 'Rex');
    const second = await store(subject, 'garden_gate_code', '5822');
    expect((await findLookAlikes(context(), second.id)).map(({ id }) => id)).toEqual([first.id]);
    expect(await live(subject)).toHaveLength(3);
    const third = await store(subject, 'entrance', '6933', { supersedes: first.id });
    expect(third.supersedesId).toBe(first.id);
    expect(await live(subject)).toEqual(['dog: Rex', 'garden_gate_code: 5822', 'entrance: 6933']);
    await expect(store(subject, 'entry', '1', { supersedes: first.id })).rejects.toThrow('is superseded');
    await undoEvent(context(), { eventId: await lastEventOf(core, third.id, 'fact.stored') });
    expect(await live(subject)).toEqual(['gate_code: 4711', 'dog: Rex', 'garden_gate_code: 5822']);
    expect(await findDifferences(context())).toEqual([]);
  });
});

describe('facts of an older lexicon', () => {
  it('get the keys of this one; of two that share one the newer stays', async () => {
    const subject = newSubject();
    const older = await store(subject, 'sculpture', 'a heron');
    const newer = await store(subject, 'garden_gnome', 'a frog');
    const like = await store(subject, 'statue', 'tea');
    const rename = (fact: Fact, predicate: string): Promise<unknown> =>
      core.db.asOwner((client) =>
        client.query('UPDATE facts SET predicate = $2, predicate_key = $2 WHERE id = $1', [fact.id, predicate]),
      );
    await rename(older, 'lives_in');
    await rename(newer, 'home_city');
    await rename(like, 'enjoys');
    await store(subject, 'likes', 'jazz');
    await rekeyFacts(context());
    expect((await live(subject)).toSorted()).toEqual(['enjoys: tea', 'home_city: a frog', 'likes: jazz']);
    const where = { subject };
    const facts = await core.db.forTenant('default').client.fact.findMany({ where });
    expect(facts.every((fact) => fact.predicateKey === predicateKey(fact.predicate))).toBe(true);
    expect(
      (await findDifferences(context())).filter(({ columns }) => columns.some((name) => name !== 'predicate')),
    ).toEqual([]);
  });
});
