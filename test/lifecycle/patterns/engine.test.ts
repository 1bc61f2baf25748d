import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consolidateWith } from '../../../src/lifecycle/consolidation/consolidate.ts';
import { patternsEngine } from '../../../src/lifecycle/consolidation/engines/patterns.ts';
import { liveValidities } from '../../../src/memory/facts/fact-values.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { openRows } from '../../../src/encryption/sealing.ts';
import { undoEvent } from '../../../src/memory/history/undo.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { observe } from '../consolidation/setup.ts';
import { storeFact } from '../../support/writes.ts';
import { storeRule } from '../../../src/memory/rules/rules.ts';

let core: TestCore;
let tenants = 0;
let tenantId: string;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant ${++tenants}`;
  core.clock.now = core.start;
});

const context = (): MemoryContext => core.context({ tenantId });

async function consolidate(...texts: string[]): Promise<Record<string, number>> {
  await observe({ ...core, context }, 'home', ...texts);
  core.clock.now = new Date(core.clock.now.getTime() + 60_000);
  return consolidateWith(context(), patternsEngine, {});
}

async function liveFacts(): Promise<string[]> {
  const where = { tenantId, validity: { in: liveValidities } };
  const facts = await core.db.forTenant(tenantId).client.fact.findMany({ where });
  const opened = await openRows(context(), facts);
  return opened.map(({ predicate, content }) => `${predicate}: ${content}`).toSorted();
}

async function liveRules(): Promise<string[]> {
  const where = { tenantId, validity: { in: liveValidities } };
  const rules = await core.db.forTenant(tenantId).client.rule.findMany({ where });
  return rules.map(({ content }) => content).toSorted();
}

describe('the engine of patterns', () => {
  it('turns episodes into facts about the user and rules for the butler', async () => {
    await consolidate('User: I live in Lisbon. I am allergic to nuts.', 'Always answer in Portuguese.');

    expect(await liveFacts()).toEqual(['allergic_to_nuts: User is allergic to nuts', 'lives_in: User lives in Lisbon']);
    const facts = await core.db
      .forTenant(tenantId)
      .client.fact.findMany({ where: { tenantId }, orderBy: { predicate: 'asc' } });
    expect(facts).toMatchObject([
      { subject: 'user', permanence: 'permanent', importance: 9, scope: 'global', sourceButler: 'home' },
      { subject: 'user', permanence: 'stable', scope: 'global' },
    ]);
    const rules = await core.db.forTenant(tenantId).client.rule.findMany({ where: { tenantId } });
    expect(rules).toMatchObject([{ content: 'Always answer in Portuguese', scope: 'home', maturity: 'candidate' }]);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('cites exactly the episodes that say it, and says once what is said twice', async () => {
    const report = await consolidate('I like tea.', 'The weather was fine.', 'User: I like tea.');
    const links = await core.db
      .forTenant(tenantId)
      .client.memoryLink.findMany({ where: { tenantId, relation: 'derived_from' } });
    const cited = await core.db
      .forTenant(tenantId)
      .client.episode.findMany({ where: { tenantId, id: { in: links.map(({ targetId }) => targetId) } } });

    expect(report).toMatchObject({ episodes: 3, factsCreated: 1 });
    expect(cited.map(({ content }) => content).toSorted()).toEqual(['I like tea.', 'User: I like tea.']);
  });

  it('knows the user by the name of an introduction, in the same run and in later ones', async () => {
    await consolidate('Tomas introduced himself: he is a nurse.', 'Tomas told me about home. Tomas lives in Brno.');
    await consolidate('Tomas told me about food. Tomas is allergic to nuts.');
    const facts = await core.db.forTenant(tenantId).client.fact.findMany({ where: { tenantId } });

    expect(new Set(facts.map(({ subject }) => subject))).toEqual(new Set(['user']));
    expect(facts.map(({ predicate }) => predicate)).toEqual(
      expect.arrayContaining(['name', 'job', 'lives_in', 'allergic_to_nuts']),
    );
  });

  it('takes what was said last', async () => {
    await consolidate('I live in Rome.', 'Actually I moved to Porto.', 'I hate jazz.', 'Changed my mind: I love jazz.');

    expect(await liveFacts()).toEqual(['likes_jazz: User loves jazz', 'lives_in: User moved to Porto']);
  });

  it('supersedes what it knew before', async () => {
    await consolidate('I live in Rome.');
    await consolidate('I live in Porto now, not in Rome.');

    expect(await liveFacts()).toEqual(['lives_in: User lives in Porto now, not in Rome']);
    expect(await core.db.forTenant(tenantId).client.fact.count({ where: { tenantId, validity: 'superseded' } })).toBe(
      1,
    );
  });

  it('updates what has ended, if it was known, and keeps a note otherwise', async () => {
    await consolidate('User works at Nokia.', 'I like tea.');
    await consolidate('User no longer works at Nokia.', 'I no longer eat meat.', 'I no longer work at Ericsson.');

    expect((await liveFacts()).map((fact) => fact.replace(/^note_[0-9a-f]{16}/, 'note'))).toEqual([
      'likes_tea: User likes tea',
      'note: User no longer eats meat',
      'works_at: User no longer works at Nokia',
    ]);
  });

  it('leaves it to a person whether a note has changed, where that is not certain', async () => {
    await consolidate("User's choir rehearses in the parish hall.");
    await consolidate("User's choir now sings at school.");

    const { client } = core.db.forTenant(tenantId);
    expect(await client.review.findMany()).toMatchObject([{ kind: 'note_change', status: 'open' }]);
    expect(await client.fact.count({ where: { tenantId, validity: 'active' } })).toBe(2);
  });

  it('lets nobody like and dislike the same', async () => {
    await consolidate('I like karaoke.');
    await consolidate("I don't like karaoke.");

    expect(await liveFacts()).toEqual([
      'dislikes_karaoke: User does not like karaoke',
      'likes_karaoke: User no longer likes karaoke',
    ]);
    await consolidate('I like karaoke.');
    expect(await liveFacts()).toEqual([
      'dislikes_karaoke: No longer: User does not like karaoke',
      'likes_karaoke: User likes karaoke',
    ]);
  });

  it('confirms a rule that an agent stored and a summary repeats', async () => {
    await storeRule(context(), { content: 'Always answer the user in Portuguese' });
    const report = await consolidate('User: Always answer in Portuguese.');

    expect(await liveRules()).toEqual(['Always answer the user in Portuguese']);
    expect(report).toMatchObject({ rulesCreated: 0, confirmations: 1 });
  });

  it('supersedes a rule that the user changes, within its scope, and one undo brings it back', async () => {
    await storeRule(context(), { content: 'Always send the report on Mondays', scope: 'global' });
    core.clock.now = new Date(core.clock.now.getTime() + 60_000);
    await consolidate('User: Always send the report on Fridays instead of Mondays.');

    expect(await liveRules()).toEqual(['Always send the report on Fridays instead of Mondays']);
    const { client } = core.db.forTenant(tenantId);
    expect(await client.rule.findMany({ where: { validity: 'active' } })).toMatchObject([{ scope: 'global' }]);
    const event = await client.memoryEvent.findFirst({ where: { eventType: 'consolidation_run.succeeded' } });
    await undoEvent(context(), { eventId: event?.id ?? '' });
    expect(await liveRules()).toEqual(['Always send the report on Mondays']);
    expect(await findDifferences(context())).toEqual([]);
  });

  it('does not touch what another butler keeps to itself', async () => {
    const input = { subject: 'user', predicate: 'likes_meat', content: 'User likes meat', scope: 'health' };
    await storeFact(context(), input);
    await consolidate('I no longer eat meat.');

    expect(await liveFacts()).toContain('likes_meat: User likes meat');
  });

  it('consolidates what says nothing', async () => {
    expect(await consolidate('The weather was fine.', 'ok', '???')).toMatchObject({ episodes: 3, factsCreated: 0 });
  });

  it('stops when it is told to', async () => {
    const claim = {
      runId: 'run',
      butler: 'home',
      worker: 'test',
      engine: 'patterns' as const,
      leaseExpiresAt: core.start,
      episodes: [
        {
          id: 'a',
          sessionId: null,
          segments: [],
          content: 'I like tea.',
          importance: 5,
          createdAt: core.start,
          observedAt: null,
        },
      ],
    };

    await expect(patternsEngine.extract(context(), claim, AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
      'stopped',
    );
  });
});
