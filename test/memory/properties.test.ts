import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryError } from '../../src/shared/errors.ts';
import type { MemoryEvent } from '../../src/generated/prisma/client.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { StoredFact } from '../../src/db/stored-fact.ts';
import { linkId, relations, type MemoryReference } from '../../src/memory/links/links.ts';
import { effectiveness, type Maturity } from '../../src/memory/rules/rule-maturity.ts';
import { maturityRank, ruleOutcomes } from '../../src/memory/rules/rule-marks.ts';
import { readPayload } from '../../src/memory/history/snapshots.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { startTicking } from '../support/clock.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { drill } from '../support/drill.ts';
import { expectNoDifference } from '../support/verify.ts';
import {
  confirmMemory,
  demoteRule,
  disableRule,
  editRule,
  enableRule,
  forgetMemory,
  ingestEpisodes,
  linkMemories,
  markRule,
  promoteRule,
  restoreMemory,
  storeFact,
  storeRule,
  undoEvent,
} from '../support/writes.ts';

/**
 * The same sequences each time, so that a change is not blamed for what it did not break. `BUTLER_PROPERTY_RUNS` and
 * `BUTLER_PROPERTY_SEED` make a longer run, or another. A failure tells the seed and the shortest sequence that it found.
 */
const runs = Number(process.env['BUTLER_PROPERTY_RUNS'] ?? drill({ sample: 3, all: 9 }));
const seed = Number(process.env['BUTLER_PROPERTY_SEED'] ?? 1);

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
  startTicking(core.clock);
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

/** What an event tells of, and of what: `fact.stored <id>`. */
type Told = string;

interface Request {
  operation: Operation;
  requestId: string;
  /** What its events must tell as far as its answer says it; null when it was refused. */
  told: Told[] | null;
}

/** A tenant of its own, what was stored in it, and what each request came to. */
class Run {
  readonly tenantId = randomUUID();
  readonly memories: MemoryReference[] = [];
  readonly requests: Request[] = [];

  context(butler: string | null = null): MemoryContext {
    return core.context({ tenantId: this.tenantId, butler });
  }

  async perform(given: Operation, writer: number): Promise<void> {
    const context = this.context([null, 'health', 'finance'][writer % 3]);
    const told = await this.write(context, given).catch((error: unknown) => {
      if (!(error instanceof MemoryError) || error.code === 'DATABASE_UNAVAILABLE') throw error;
      return null;
    });
    this.requests.push({ operation: given, requestId: context.requestContext.requestId, told });
  }

  private async write(context: MemoryContext, given: Operation): Promise<Told[]> {
    switch (given.do) {
      case 'storeFact':
        return this.storeFact(context, given);
      case 'storeRule': {
        const origin = this.sourceOf(given);
        const { id, requestId } = await storeRule(context, { content: `ask ${(given.source ?? 0) % 3}`, ...origin });
        this.keep('rule', [{ id }]);
        if (requestId !== context.requestContext.requestId) return [`rule.confirmed ${id}`];
        return [`rule.stored ${id}`, ...toldOfSource({ type: 'rule', id }, origin)];
      }
      case 'ingest': {
        const contents = Array.from({ length: given.count }, (_, place) => ({
          content: `e ${place}`,
          butler: 'health',
        }));
        const episodes = await ingestEpisodes(context, contents);
        this.keep('episode', episodes);
        return episodes.map(({ id }) => `episode.stored ${id}`);
      }
      case 'mark': {
        const { id } = this.pick(given.rule, 'rule');
        await markRule(context, { ruleId: id, outcome: given.outcome, reason: 'so' });
        return [`rule.marked_${given.outcome} ${id}`];
      }
      case 'changeRule': {
        const { change, event } = ruleChanges[given.change] as (typeof ruleChanges)[number];
        const { id } = this.pick(given.rule, 'rule');
        await change(context, { ruleId: id, content: `edited ${given.rule}` });
        return [`${event} ${id}`];
      }
      case 'confirm': {
        const { type, id } = this.pick(given.memory);
        await confirmMemory(context, { type, id });
        return [`${type}.confirmed ${id}`];
      }
      case 'forget': {
        const { type, id } = this.pick(given.memory);
        await forgetMemory(context, { type, id });
        return [type === 'fact' ? `fact.retracted ${id}` : `${type}.forgotten ${id}`];
      }
      case 'restore': {
        const { type, id } = this.pick(given.memory);
        await restoreMemory(context, { type, id });
        return [`${type}.restored ${id}`];
      }
      case 'link': {
        const relation = relations[given.relation] ?? 'supports';
        await linkMemories(context, { source: this.pick(given.source), target: this.pick(given.target), relation });
        return [];
      }
      case 'undo':
        await undoEvent(context, { eventId: await this.pickEvent(given.event) });
        return [];
    }
  }

  private async storeFact(context: MemoryContext, given: Operation & { do: 'storeFact' }): Promise<Told[]> {
    const origin = this.sourceOf(given);
    const fact = await storeFact(context, { ...this.factOf(given), ...origin });
    const { id, supersedesId } = fact;
    this.keep('fact', [fact]);
    if (fact.requestId !== context.requestContext.requestId) return [`fact.confirmed ${id}`];
    const superseded =
      supersedesId === null
        ? []
        : [`fact.superseded ${supersedesId}`, `link.created fact:${id} supersedes fact:${supersedesId}`];
    return [`fact.stored ${id}`, ...superseded, ...toldOfSource({ type: 'fact', id }, origin)];
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
      .forTenant(this.tenantId)
      .client.memoryEvent.findMany({ orderBy: { sequence: 'desc' }, take: 10, select: { id: true } });
    return events[number % events.length]?.id ?? randomUUID();
  }
}

const ruleChanges: { change: typeof editRule; event: string }[] = [
  { change: promoteRule, event: 'rule.promoted' },
  { change: demoteRule, event: 'rule.demoted' },
  { change: disableRule, event: 'rule.disabled' },
  { change: enableRule, event: 'rule.enabled' },
  { change: editRule, event: 'rule.edited' },
];

function toldOfSource({ type, id }: MemoryReference, { sourceEpisodeId }: { sourceEpisodeId?: string }): Told[] {
  return sourceEpisodeId === undefined ? [] : [`link.created ${type}:${id} derived_from episode:${sourceEpisodeId}`];
}

function expectOneLiveFactPerKey(facts: StoredFact[]): void {
  const live = facts.filter(({ kind, validity }) => kind === 'state' && ['active', 'fading'].includes(validity));
  const keys = live.map(({ scope, subjectKey, predicateKey }) => `${scope} ${subjectKey} ${predicateKey}`);
  expect(new Set(keys).size).toBe(keys.length);
}

function expectChains(facts: StoredFact[]): void {
  const supersededBy = new Map(facts.map(({ id, supersedesId }) => [id, supersedesId]));
  for (const { id } of facts) {
    let length = 0;
    for (let next = supersededBy.get(id) ?? null; next !== null; next = supersededBy.get(next) ?? null) {
      expect(++length).toBeLessThan(facts.length);
    }
  }
}

async function expectCountsOfRules({ tenantId }: Run): Promise<void> {
  const client = core.db.forTenant(tenantId).client;
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

/** Exactly one for each change: a request tells what it did and nothing twice, and a row has a version for each event. */
async function expectEvents({ tenantId, requests }: Run): Promise<void> {
  const client = core.db.forTenant(tenantId).client;
  const all = await client.memoryEvent.findMany({ orderBy: { sequence: 'asc' } });
  const events = all.filter(({ entityType }) => entityType !== 'embedding_version');
  // Whoever is the first to write in a tenant registers its model.
  expect(all.length - events.length).toBe(1);
  for (const request of requests) {
    const ofRequest = events.filter(({ requestId }) => requestId === request.requestId);
    const recorded = ofRequest.filter(({ entityType }) => entityType !== 'review');
    // Which facts are near each other is no matter here: a review is only ever a consequence of a change.
    const reviewed = ofRequest.filter(({ entityType }) => entityType === 'review');
    for (const { causeEventId } of reviewed) expect(recorded.map(({ id }) => id)).toContain(causeEventId);
    const expected = request.told === null ? [] : [...request.told, ...toldBesides(request, recorded, events)];
    expect(recorded.map(tell).toSorted(), JSON.stringify(request.operation)).toEqual(expected.toSorted());
  }
  const numberOf = (id: string): number => events.filter(({ entityId }) => entityId === id).length;
  const rows = [await client.episode.findMany(), await client.fact.findMany(), await client.rule.findMany()].flat();
  for (const { id, version } of rows) expect(numberOf(id), id).toBe(version);
  // Made, removed, made again: what is there was made once more than it was removed.
  for (const link of await client.memoryLink.findMany()) expect(numberOf(linkId(link)) % 2, linkId(link)).toBe(1);
}

function tell({ eventType, entityId }: MemoryEvent): Told {
  return `${eventType} ${entityId}`;
}

/** What the answer does not say: what a request came to depends on what others did before it. */
function toldBesides({ operation: given }: Request, recorded: MemoryEvent[], events: MemoryEvent[]): Told[] {
  if (given.do === 'undo') return toldOfUndo(recorded, events);
  if (given.do === 'mark') return toldOfMaturity(recorded);
  // A link that is there already is made no second time, and which facts contradict a new one depends on all others.
  const links = recorded.filter(({ eventType, entityId }) => eventType === 'link.created' && isFree(given, entityId));
  return [...new Set(links.map(tell))];
}

function isFree(given: Operation, entityId: string): boolean {
  return given.do === 'link' || (given.do === 'storeFact' && entityId.includes(' contradicts '));
}

/** A mark that leads to another maturity is followed by one event that says so. */
function toldOfMaturity(recorded: MemoryEvent[]): Told[] {
  const [mark, last] = [recorded[0], recorded.at(-1)];
  if (mark === undefined || last === undefined) return [];
  const before = readPayload(mark).before?.['maturity'] as Maturity;
  const after = readPayload(last).after?.['maturity'] as Maturity;
  if (before === after) return [];
  if (after === 'anti_pattern') return [`rule.inverted ${mark.entityId}`];
  return [`rule.${maturityRank[after] > maturityRank[before] ? 'promoted' : 'demoted'} ${mark.entityId}`];
}

/** What an event did and what followed from it, each taken back once, but for what was undone by itself before. */
function toldOfUndo(recorded: MemoryEvent[], events: MemoryEvent[]): Told[] {
  const undo = recorded.find(({ causeEventId }) => causeEventId === null);
  const root = events.find(({ id }) => id === undo?.revertsEventId);
  const first = recorded[0];
  if (root === undefined || first === undefined) return ['an event that takes back another'];
  const isUndone = (id: string): boolean =>
    events.some((event) => event.revertsEventId === id && event.sequence < first.sequence && !isUndone(event.id));
  const caused = (id: string): MemoryEvent[] =>
    events.filter(({ causeEventId }) => causeEventId === id).flatMap((event) => [event, ...caused(event.id)]);
  return [root, ...caused(root.id)]
    .filter(({ id, entityType }) => entityType !== 'review' && !isUndone(id))
    .map(tellUndone);
}

function tellUndone({ eventType, entityType, entityId }: MemoryEvent): Told {
  if (entityType !== 'link') return `${entityType}.undone ${entityId}`;
  return `${eventType === 'link.created' ? 'link.removed' : 'link.created'} ${entityId}`;
}

/** For the search for a smaller failure; runs without one take a sixth of it. */
const searchLimitMs = 6_700 * Math.max(runs, 9);

describe('whatever is done, by however many writers', () => {
  it(
    'leaves one live fact a key, counters that count, chains that end, and rows that are what their events say',
    async () => {
      const property = fc.asyncProperty(fc.array(turn, { minLength: 15, maxLength: 30 }), async (turns) => {
        const run = new Run();
        core.clock.now = core.start;
        await run.perform({ do: 'storeRule', source: null }, 0);
        for (const { days, writers } of turns) {
          core.clock.now = new Date(core.clock.now.getTime() + days * 86_400_000);
          await Promise.all(writers.map((given, writer) => run.perform(given, writer)));
        }

        const facts = await core.db.forTenant(run.tenantId).client.fact.findMany();
        expectOneLiveFactPerKey(facts);
        expectChains(facts);
        await expectCountsOfRules(run);
        await expectEvents(run);
        expect(await findDifferences(run.context())).toEqual([]);
      });
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: searchLimitMs });
    },
    2 * searchLimitMs,
  );

  it('leaves nothing that verify finds', () => expectNoDifference(core));
});
