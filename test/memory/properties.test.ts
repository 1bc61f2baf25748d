import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryError } from '../../src/errors.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { ingestEpisodes } from '../../src/memory/episodes.ts';
import { storeFact, type Fact } from '../../src/memory/facts.ts';
import { linkMemories } from '../../src/memory/link-graph.ts';
import { relations, type MemoryReference } from '../../src/memory/links.ts';
import { confirmMemory, forgetMemory, restoreMemory } from '../../src/memory/memories.ts';
import { demoteRule, disableRule, editRule, enableRule, promoteRule } from '../../src/memory/rule-changes.ts';
import { effectiveness } from '../../src/memory/rule-maturity.ts';
import { markRule, ruleOutcomes, storeRule } from '../../src/memory/rules.ts';
import { undoEvent } from '../../src/memory/undo.ts';
import { findDifferences } from '../../src/memory/verify.ts';
import { createTestCore, type TestCore } from '../support/core.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

/** What one writer does. Numbers choose among what is there at that time. */
type Operation =
  | { do: 'storeFact'; key: number; content: number; kind: 'state' | 'event'; source: number | null }
  | { do: 'storeRule'; source: number | null }
  | { do: 'ingest'; count: number }
  | { do: 'mark'; rule: number; outcome: (typeof ruleOutcomes)[number] }
  | { do: 'changeRule'; rule: number; change: number }
  | { do: 'confirm' | 'forget' | 'restore'; memory: number }
  | { do: 'link'; source: number; target: number; relation: number }
  | { do: 'undo'; event: number };

const some = fc.nat(7);
const source = fc.option(some, { freq: 3 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('storeFact' as const),
      key: fc.nat(2),
      content: fc.nat(2),
      kind: fc.constantFrom('state' as const, 'state' as const, 'event' as const),
      source,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('storeRule' as const), source }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('ingest' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('mark' as const),
      rule: fc.nat(1),
      outcome: fc.constantFrom(...ruleOutcomes),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('changeRule' as const), rule: fc.nat(1), change: fc.nat(4) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('confirm' as const, 'forget' as const, 'restore' as const),
      memory: some,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('link' as const),
      source: some,
      target: some,
      relation: fc.nat(relations.length - 1),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('undo' as const), event: fc.nat(9) }) },
);

/** One writer after the other, or up to four at the same time; a day may pass before each turn. */
const turn = fc.record({
  days: fc.constantFrom(0, 0, 0, 1, 40),
  writers: fc.oneof(
    { weight: 3, arbitrary: fc.array(operation, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(operation, { minLength: 2, maxLength: 4 }) },
  ),
});

/** A tenant of its own, what was stored in it, and what each request came to. */
class Run {
  readonly tenantId = randomUUID();
  readonly memories: MemoryReference[] = [];
  readonly requests: { operation: Operation; requestId: string; isRefused: boolean }[] = [];

  context(butler: string | null = null): MemoryContext {
    return core.context({ tenantId: this.tenantId, butler });
  }

  async perform(given: Operation, writer: number): Promise<void> {
    const context = this.context([null, 'health', 'finance'][writer % 3]);
    let isRefused = false;
    try {
      await this.write(context, given);
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'DATABASE_UNAVAILABLE') throw error;
      isRefused = true;
    }
    this.requests.push({ operation: given, requestId: context.requestContext.requestId, isRefused });
  }

  private async write(context: MemoryContext, given: Operation): Promise<void> {
    switch (given.do) {
      case 'storeFact':
        return this.keep('fact', [await storeFact(context, this.factOf(given))]);
      case 'storeRule':
        return this.keep('rule', [await storeRule(context, { content: 'ask first', ...this.sourceOf(given) })]);
      case 'ingest': {
        const episodes = Array.from({ length: given.count }, (_, place) => ({
          content: `e ${place}`,
          butler: 'health',
        }));
        return this.keep('episode', await ingestEpisodes(context, episodes));
      }
      case 'mark':
        await markRule(context, { ruleId: this.pick(given.rule, 'rule').id, outcome: given.outcome, reason: 'so' });
        return;
      case 'changeRule': {
        const changes = [promoteRule, demoteRule, disableRule, enableRule, editRule];
        const change = changes[given.change] as typeof editRule;
        await change(context, { ruleId: this.pick(given.rule, 'rule').id, content: `edited ${given.rule}` });
        return;
      }
      case 'confirm':
        await confirmMemory(context, this.pick(given.memory));
        return;
      case 'forget':
        await forgetMemory(context, this.pick(given.memory));
        return;
      case 'restore':
        await restoreMemory(context, this.pick(given.memory));
        return;
      case 'link': {
        const relation = relations[given.relation] ?? 'supports';
        await linkMemories(context, { source: this.pick(given.source), target: this.pick(given.target), relation });
        return;
      }
      case 'undo':
        await undoEvent(context, { eventId: await this.pickEvent(given.event) });
    }
  }

  private factOf(given: Operation & { do: 'storeFact' }): Parameters<typeof storeFact>[1] {
    const { key, content, kind } = given;
    const scope = key === 2 ? 'health' : 'global';
    return {
      subject: 'user',
      predicate: `key ${key % 2}`,
      scope,
      content: `c ${content}`,
      kind,
      ...this.sourceOf(given),
    };
  }

  private sourceOf({ source: number }: { source: number | null }): { sourceEpisodeId?: string } {
    const episodes = this.memories.filter(({ type }) => type === 'episode');
    const episode = number === null ? undefined : episodes[number % episodes.length];
    return episode === undefined ? {} : { sourceEpisodeId: episode.id };
  }

  private keep(type: MemoryReference['type'], rows: { id: string }[]): void {
    for (const { id } of rows) {
      if (!this.memories.some((memory) => memory.id === id)) this.memories.push({ type, id });
    }
  }

  /** One of the last, or an unknown one when there is none. */
  private pick(number: number, type?: MemoryReference['type']): MemoryReference {
    const choice = this.memories.filter((memory) => type === undefined || memory.type === type).slice(-8);
    return choice[number % choice.length] ?? { type: type ?? 'fact', id: randomUUID() };
  }

  private async pickEvent(number: number): Promise<string> {
    const events = await core.db
      .tenant(this.tenantId)
      .memoryEvent.findMany({ orderBy: { sequence: 'desc' }, take: 10, select: { id: true } });
    return events[number % events.length]?.id ?? randomUUID();
  }
}

function expectOneLiveFactPerKey(facts: Fact[]): void {
  const live = facts.filter(({ kind, validity }) => kind === 'state' && ['active', 'fading'].includes(validity));
  const keys = live.map(({ scope, subjectKey, predicateKey }) => `${scope} ${subjectKey} ${predicateKey}`);
  expect(new Set(keys).size).toBe(keys.length);
}

function expectChains(facts: Fact[]): void {
  const supersededBy = new Map(facts.map(({ id, supersedesId }) => [id, supersedesId]));
  for (const { id } of facts) {
    let length = 0;
    for (let next = supersededBy.get(id) ?? null; next !== null; next = supersededBy.get(next) ?? null) {
      expect(++length).toBeLessThan(facts.length);
    }
  }
}

async function expectCountsOfRules({ tenantId }: Run): Promise<void> {
  const client = core.db.tenant(tenantId);
  const applications = await client.ruleApplication.findMany({ where: { retiredByEventId: null } });
  for (const rule of await client.rule.findMany()) {
    const outcomes = applications.filter(({ ruleId }) => ruleId === rule.id).map(({ outcome }) => outcome);
    const record = {
      successCount: outcomes.filter((outcome) => outcome === 'helpful').length,
      harmfulCount: outcomes.filter((outcome) => outcome === 'harmful').length,
    };
    expect(rule).toMatchObject({ ...record, appliedCount: outcomes.length });
    expect(rule.effectivenessScore).toBeCloseTo(effectiveness(record), 12);
  }
}

async function expectEvents({ tenantId, requests }: Run): Promise<void> {
  const events = await core.db.tenant(tenantId).memoryEvent.findMany({ select: { requestId: true } });
  for (const { operation: given, requestId, isRefused } of requests) {
    const count = events.filter((event) => event.requestId === requestId).length;
    if (isRefused) expect(count, JSON.stringify(given)).toBe(0);
    // A link that is there already is made no second time.
    else if (given.do !== 'link') expect(count, JSON.stringify(given)).toBeGreaterThan(0);
  }
}

describe('whatever is done, by however many writers', () => {
  it('leaves one live fact a key, counters that count, chains that end, and rows that are what their events say', async () => {
    const property = fc.asyncProperty(fc.array(turn, { minLength: 15, maxLength: 30 }), async (turns) => {
      const run = new Run();
      core.clock.now = core.start;
      await run.perform({ do: 'storeRule', source: null }, 0);
      for (const { days, writers } of turns) {
        core.clock.now = new Date(core.clock.now.getTime() + days * 86_400_000);
        await Promise.all(writers.map((given, writer) => run.perform(given, writer)));
      }

      const facts = await core.db.tenant(run.tenantId).fact.findMany();
      expectOneLiveFactPerKey(facts);
      expectChains(facts);
      await expectCountsOfRules(run);
      await expectEvents(run);
      expect(await findDifferences(run.context())).toEqual([]);
    });
    // The time limit is for the search for a smaller failure; a run without one takes a sixth of it.
    await fc.assert(property, { seed: 1, numRuns: 9, interruptAfterTimeLimit: 60_000 });
  }, 120_000);
});
