import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effectiveConfidenceAt } from '../../src/db/sql/effective-confidence.ts';
import { memoryOrders, type MemoryOrder } from '../../src/db/queries/list-memories.ts';
import { memoryTypes, type MemoryType } from '../../src/db/tables.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { effectiveConfidence } from '../../src/memory/confidence.ts';
import type { FilterInput } from '../../src/memory/filter.ts';
import { countList, listMemories, type ListChoice, type Listed } from '../../src/memory/lists.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { insertRow, rowOf, type Row } from '../support/rows.ts';
import { forgetMemory, markRule, promoteRule, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const page = { limit: 100, inverted: false };
/** Nothing is sealed here: what is stored is what was given. */
const contentsOf = (list: Listed[]): string[] => list.map(({ row }) => row.content as string);

/** A tenant of its own, so that lists know nothing of other tests. */
function newTenant(): ReturnType<TestCore['context']> {
  return core.context({ tenantId: randomUUID() });
}

describe('a filter', () => {
  let context: ReturnType<TestCore['context']>;
  const sessionId = randomUUID();

  beforeAll(async () => {
    context = newTenant();
    const health = { ...context, principal: { ...context.principal, butler: 'health' } };
    await storeEpisode(context, { content: 'e health', butler: 'health', sessionId, tags: ['a', 'b'] });
    await storeEpisode(context, { content: 'e finance', butler: 'finance', importance: 9, tags: ['a'] });
    const expired = await storeEpisode(context, { content: 'e expired', butler: 'health' });
    const forgotten = await storeEpisode(context, { content: 'e forgotten', butler: 'health' });
    await forgetMemory(context, { type: 'episode', id: forgotten.id });
    await core.db.asOwner(async (client) => {
      await client.query('UPDATE episodes SET expires_at = $1 WHERE id = $2', [core.start, expired.id]);
      await client.query("UPDATE episodes SET consolidation_status = 'failed' WHERE content = 'e finance'");
    });

    const user = { subject: 'The User', predicate: 'lives_in' };
    await storeFact(context, { ...user, content: 'f old' });
    await storeFact(context, { ...user, content: 'f global', confidence: 0.5, tags: ['a', 'c'] });
    await storeFact(health, { ...user, predicate: 'eats', content: 'f health', scope: 'health', permanence: 'stable' });
    await storeFact(context, { ...user, subject: 'guest', content: 'f finance', scope: 'finance', importance: 9 });
    await storeFact(context, { ...user, content: 'f event', kind: 'event', permanence: 'permanent', confidence: 0.1 });
    const retracted = await storeFact(context, { ...user, subject: 'cook', content: 'f forgotten' });
    await forgetMemory(context, { type: 'fact', id: retracted.id });
    await core.onDay(-10, () =>
      storeFact(context, { ...user, predicate: 'met', content: 'f faded', permanence: 'ephemeral' }),
    );

    await storeRule(context, { content: 'r global', tags: ['a', 'b'] });
    const proven = await storeRule(health, { content: 'r health', scope: 'health', importance: 9 });
    await promoteRule(context, { ruleId: proven.id });
    await promoteRule(context, { ruleId: proven.id });
    const gone = await storeRule(context, { content: 'r forgotten' });
    await forgetMemory(context, { type: 'rule', id: gone.id });
  });

  async function found(filter: FilterInput): Promise<string[]> {
    const contents: string[] = [];
    for (const type of memoryTypes) {
      const listed = contentsOf(await listMemories(context, { type, filter }, page));
      expect(await countList(context, { type, filter })).toBe(listed.length);
      contents.push(...listed);
    }
    return contents.toSorted();
  }

  const episodes = ['e finance', 'e health'];
  const facts = ['f event', 'f faded', 'f finance', 'f global', 'f health'];
  const rules = ['r global', 'r health'];

  it.each<[string, FilterInput, string[]]>([
    ['nothing, which finds what is live', {}, [...episodes, ...facts, ...rules]],
    ['no tags, which asks for nothing', { tags: [] }, [...episodes, ...facts, ...rules]],
    [
      'a scope, with what is global',
      { scope: 'health' },
      ['e health', 'f event', 'f faded', 'f global', 'f health', ...rules],
    ],
    ['a butler', { butler: 'health' }, ['e health', 'f health', 'r health']],
    ['a session', { sessionId: sessionId.toUpperCase() }, ['e health']],
    ['a validity', { validity: ['superseded'] }, ['f old']],
    [
      'several validities',
      { validity: ['superseded', 'active'] },
      [...episodes, 'f event', 'f faded', 'f finance', 'f global', 'f health', 'f old', ...rules],
    ],
    ['forgotten, which means retracted', { validity: ['forgotten'] }, ['f forgotten', 'r forgotten']],
    ['a consolidation status', { consolidationStatus: ['failed', 'dead_letter'] }, ['e finance']],
    ['eden', { generation: ['eden'] }, episodes],
    ['mid', { generation: ['mid'] }, ['f faded', 'f finance', 'f global', 'r global']],
    ['long', { generation: ['long'] }, ['f event', 'f health', 'r health']],
    ['two generations', { generation: ['mid', 'long'] }, [...facts, ...rules]],
    ['permanences', { permanence: ['stable', 'ephemeral'] }, ['f faded', 'f health']],
    ['a maturity', { maturity: ['proven'] }, ['r health']],
    ['a kind', { kind: 'event' }, ['f event']],
    ['a subject, however it is written', { subject: 'the-user' }, ['f event', 'f faded', 'f global', 'f health']],
    ['a predicate', { predicate: 'EATS' }, ['f health']],
    ['one tag', { tags: ['a'] }, ['e finance', 'e health', 'f global', 'r global']],
    ['tags, all of them', { tags: ['b', 'a'] }, ['e health', 'r global']],
    [
      'a time from, with it',
      { from: new Date('2026-03-01T12:00:00.000Z') },
      [...episodes, 'f event', 'f finance', 'f global', 'f health', ...rules],
    ],
    ['a time to, without it', { to: new Date('2026-03-01T12:00:00.000Z') }, ['f faded']],
    [
      'a least effective confidence, which every episode has',
      { minConfidence: 0.4 },
      [...episodes, 'f finance', 'f global', 'f health', ...rules],
    ],
    ['an effective confidence below', { maxConfidence: 0.4 }, ['f event', 'f faded']],
    ['a least importance', { minImportance: 9 }, ['e finance', 'f finance', 'r health']],
    [
      'several things',
      { scope: 'finance', tags: ['a'], minConfidence: 0.1, generation: ['mid'] },
      ['f global', 'r global'],
    ],
    ['what no type has together', { maturity: ['proven'], kind: 'state' }, []],
  ])('may ask for %s', async (_, filter, expected) => {
    expect(await found(filter)).toEqual(expected);
  });

  it.each<[string, FilterInput]>([
    ['validity', { validity: ['gone'] }],
    ['validity', { validity: [] }],
    ['generation', { generation: [] }],
    ['scope', { scope: ' ' }],
    ['subject', { subject: '' }],
    ['consolidation_status', { consolidationStatus: ['gone'] }],
    ['generation', { generation: ['gone'] }],
    ['permanence', { permanence: ['gone'] }],
    ['maturity', { maturity: ['gone'] }],
    ['kind', { kind: 'gone' }],
    ['session_id', { sessionId: 'gone' }],
    ['subject', { subject: 'x'.repeat(201) }],
    ['tags', { tags: [' '] }],
    ['from', { from: new Date(NaN) }],
    ['to', { from: new Date('2026-03-02'), to: new Date('2026-03-01') }],
    ['to', { from: new Date('2026-03-02'), to: new Date('2026-03-02') }],
    ['min_confidence', { minConfidence: 1.1 }],
    ['max_confidence', { maxConfidence: NaN }],
    ['min_importance', { minImportance: 0 }],
  ])('is refused by its %s', async (field, filter) => {
    await expect(found(filter)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(`^${field} must be `),
    });
  });

  it('finds nothing of another tenant', async () => {
    expect(await listMemories(newTenant(), { type: 'fact' }, page)).toEqual([]);
    expect(await countList(newTenant(), { type: 'fact' })).toBe(0);
  });
});

describe('a list', () => {
  const ordersOf: Record<MemoryType, MemoryOrder[]> = {
    episode: ['createdAt', 'importance', 'references', 'lastReferencedAt'],
    fact: ['createdAt', 'importance', 'references', 'lastReferencedAt', 'confidence'],
    rule: [...memoryOrders],
  };
  const tables = { episode: 'episodes', fact: 'facts', rule: 'rules' } as const;

  /** Rows of which many are equal in what lists are ordered by. */
  async function insertRows(tenantId: string, type: MemoryType, count: number): Promise<string[]> {
    const rows = Array.from({ length: count }, (_, number): Row => {
      const decaying = { confidence: [1, 0.3, 0.1 + 0.2][number % 3], decay_rate: [0, 0.1][number % 2] };
      return rowOf(tables[type], tenantId, {
        content: `${type} ${number}`,
        created_at: core.day(-(number % 3)),
        importance: 1 + (number % 4) / 3,
        reference_count: number % 2,
        last_referenced_at: number % 3 === 0 ? null : core.day(-(number % 2)),
        ...(type !== 'episode' && decaying),
        ...(type === 'rule' && { effectiveness_score: (number % 3) / 3 }),
      });
    });
    await core.db.asOwner(async (client) => {
      for (const row of rows) await insertRow(client, tables[type], row);
    });
    return rows.map(({ id }) => id as string);
  }

  /** Every page from one end to the other. What `between` does must not be seen by the rest. */
  async function walk(
    context: ReturnType<TestCore['context']>,
    choice: ListChoice,
    { backwards, between }: { backwards: boolean; between: () => Promise<unknown> },
  ): Promise<Listed[]> {
    const walked: Listed[] = [];
    for (let cursor: string | undefined; ;) {
      const from = backwards ? { before: cursor } : { after: cursor };
      const rows = await listMemories(context, choice, { limit: 4, inverted: backwards, ...from });
      walked.push(...rows);
      if (rows.length < 4) return walked;
      cursor = rows.at(-1)?.cursor;
      await between();
    }
  }

  for (const type of memoryTypes) {
    it(`of ${type}s has each row exactly once in every order, forwards and backwards, whatever is stored meanwhile`, async () => {
      for (const order of ordersOf[type]) {
        const context = newTenant();
        const { tenantId } = context.principal;
        await insertRows(tenantId, type, 15);
        const between = async (): Promise<void> => {
          core.clock.now = new Date(core.clock.now.getTime() + 3_600_000);
          await insertRows(tenantId, type, 1);
        };
        for (const descending of [true, false]) {
          for (const backwards of [false, true]) {
            const choice = { type, order, descending };
            const whole = (await listMemories(context, choice, page)).map(({ row }) => row.id);
            expect(whole).toHaveLength(await countList(context, choice));
            const walked = (await walk(context, choice, { backwards, between })).map(({ row }) => row.id);
            core.clock.now = core.start;
            expect(new Set(walked).size).toBe(walked.length);
            expect(walked.filter((id) => whole.includes(id))).toEqual(backwards ? whole.toReversed() : whole);
          }
        }
      }
    });
  }

  it('is ordered by what it says', async () => {
    const context = newTenant();
    await insertRows(context.principal.tenantId, 'rule', 12);
    const values: Record<MemoryOrder, (row: never) => number> = {
      createdAt: ({ createdAt }: { createdAt: Date }) => createdAt.getTime(),
      importance: ({ importance }: { importance: number }) => importance,
      references: ({ referenceCount }: { referenceCount: number }) => referenceCount,
      lastReferencedAt: ({ lastReferencedAt }: { lastReferencedAt: Date | null }) => lastReferencedAt?.getTime() ?? 0,
      confidence: (row: Parameters<typeof effectiveConfidence>[0]) => effectiveConfidence(row, core.start),
      effectiveness: ({ effectivenessScore }: { effectivenessScore: number }) => effectivenessScore,
    };
    for (const order of memoryOrders) {
      const listed = await listMemories(context, { type: 'rule', order }, page);
      const ordered = listed.map(({ row }) => values[order](row as never));
      expect(new Set(ordered).size).toBeGreaterThan(1);
      expect(ordered).toEqual(ordered.toSorted((left, right) => right - left));
    }
    const ascending = await listMemories(context, { type: 'rule', descending: false }, page);
    const descending = await listMemories(context, { type: 'rule' }, page);
    expect(contentsOf(ascending)).toEqual(contentsOf(descending).toReversed());
  });

  it('lies between two cursors', async () => {
    const context = newTenant();
    await insertRows(context.principal.tenantId, 'fact', 9);
    const whole = await listMemories(context, { type: 'fact' }, page);
    const between = { ...page, after: whole[1]?.cursor, before: whole[7]?.cursor };

    expect(contentsOf(await listMemories(context, { type: 'fact' }, between))).toEqual(contentsOf(whole.slice(2, 7)));
    expect(contentsOf(await listMemories(context, { type: 'fact' }, { ...between, limit: 2, inverted: true }))).toEqual(
      contentsOf(whole.slice(5, 7)).toReversed(),
    );
    expect(await listMemories(context, { type: 'fact' }, { ...page, limit: 0 })).toEqual([]);
  });

  it('refuses an order that its type does not have', async () => {
    for (const [type, order] of [
      ['episode', 'confidence'],
      ['episode', 'effectiveness'],
      ['fact', 'effectiveness'],
    ] as const) {
      const refusal = { code: 'INVALID_INPUT', message: expect.stringMatching(/^order must be one of createdAt, /) };
      await expect(listMemories(newTenant(), { type, order }, page)).rejects.toMatchObject(refusal);
      await expect(countList(newTenant(), { type, order })).rejects.toMatchObject(refusal);
    }
  });

  it('refuses the cursor of another order or type', async () => {
    const context = newTenant();
    await insertRows(context.principal.tenantId, 'fact', 1);
    const [listed] = await listMemories(context, { type: 'fact', order: 'importance' }, page);
    const refusal = { code: 'INVALID_INPUT', message: expect.stringMatching(/^cursor must be a cursor of a list of /) };

    for (const choice of [
      { type: 'fact' },
      { type: 'fact', order: 'confidence' },
      { type: 'rule', order: 'importance' },
    ] as const) {
      await expect(listMemories(context, choice, { ...page, after: listed?.cursor })).rejects.toMatchObject(refusal);
      await expect(listMemories(context, choice, { ...page, before: listed?.cursor })).rejects.toMatchObject(refusal);
    }
  });

  it('refuses what is no cursor', async () => {
    const encoded = [null, {}, [], 'text', 7].map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    for (const after of ['', 'garbage', '*', ...encoded]) {
      await expect(listMemories(newTenant(), { type: 'rule' }, { ...page, after })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(/^cursor must be a cursor of a list of rules by createdAt \(got /),
      });
    }
  });

  it('does not stumble over a cursor that somebody made up', async () => {
    const values = [
      '',
      ' ',
      'x',
      'now',
      'infinity',
      '2026-13-45 99:00:00+00',
      '99999-01-01',
      'NaN',
      '1e999',
      '1.5',
      '9e9',
      "'",
      null,
      7,
      {},
    ];
    const context = newTenant();
    await insertRows(context.principal.tenantId, 'rule', 1);
    for (const order of memoryOrders) {
      const [listed] = await listMemories(context, { type: 'rule', order }, page);
      const parts = JSON.parse(Buffer.from(listed?.cursor ?? '', 'base64url').toString()) as unknown[];
      let refused = 0;
      for (const forged of parts.flatMap((_, place) => values.map((value) => parts.with(place, value)))) {
        const after = Buffer.from(JSON.stringify(forged)).toString('base64url');
        await listMemories(context, { type: 'rule', order }, { ...page, after }).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'INVALID_INPUT' });
          refused++;
        });
      }
      expect(refused).toBeGreaterThan(60);
    }
  });
});

describe('effective confidence in SQL', () => {
  it('is that of the one function, whatever the age', async () => {
    const context = newTenant();
    const { tenantId } = context.principal;
    const cases: Row[] = [];
    for (const age of [0, 0.001, 1, 86.6, 365, 40_000, -3]) {
      for (const decayRate of [0, 0.002, 0.008, 0.1]) {
        const created = { created_at: core.day(-age), decay_rate: decayRate };
        cases.push({ ...created, last_confirmed_at: null, confidence: 0.7 });
        cases.push({ ...created, last_confirmed_at: core.day(-age / 2), confidence: 1 });
        cases.push({ ...created, last_confirmed_at: core.day(2), confidence: 1e-300 });
        cases.push({ ...created, last_confirmed_at: null, confidence: 1e-300 });
      }
    }
    cases.push({ confidence: 0, decay_rate: 0.1, created_at: core.day(-9) });
    await core.db.asOwner(async (client) => {
      for (const columns of cases) await insertRow(client, 'facts', rowOf('facts', tenantId, columns));
    });

    const inSql = await core.db
      .forTenant(tenantId)
      .client.$queryRaw<{ id: string; value: number }[]>(
        Prisma.sql`SELECT id::text, ${effectiveConfidenceAt(core.start)} AS value FROM facts`,
      );
    const facts = new Map((await core.db.forTenant(tenantId).client.fact.findMany()).map((fact) => [fact.id, fact]));
    expect(inSql).toHaveLength(cases.length);
    for (const { id, value } of inSql) {
      const fact = facts.get(id) ?? expect.unreachable();
      expect(Math.abs(value - effectiveConfidence(fact, core.start))).toBeLessThan(1e-9);
    }
  });

  it('does not fade for a warning', async () => {
    const context = newTenant();
    const rule = await core.onDay(-400, () => storeRule(context, { content: 'ask first' }));
    for (let harm = 0; harm < 3; harm++)
      await core.onDay(-400, () => markRule(context, { ruleId: rule.id, outcome: 'harmful' }));

    expect(await countList(context, { type: 'rule', filter: { minConfidence: 0.5 } })).toBe(1);
  });
});
