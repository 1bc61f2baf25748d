import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadEchoes } from '../../../src/lifecycle/consolidation/echo-guard.ts';
import type { ConsolidationRun } from '../../../src/generated/prisma/client.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { Episode } from '../../../src/memory/episodes/episodes.ts';
import { getMemory } from '../../../src/memory/memories.ts';
import { buildContext } from '../../../src/retrieval/context/context.ts';
import { recallMemories } from '../../../src/retrieval/recall.ts';
import { draftReceipt, keepReceipts } from '../../../src/retrieval/receipts/receipts.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimNext, evidenceOf, passSeconds } from './setup.ts';
import { applyOutput, editRule, forgetMemory, storeEpisode, storeFact, storeRule } from '../../support/writes.ts';

let core: TestCore;
let tenants = 0;
let tenantId: string;
let sessionId: string;
let factId: string;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(async () => {
  tenantId = `tenant ${++tenants}`;
  sessionId = uuidv7();
  core.clock.now = core.start;
  const fact = { subject: 'user', predicate: 'drink', content: 'User drinks green tea at breakfast' };
  factId = (await storeFact(context(), fact)).id;
  passSeconds(core, 60);
});

const context = (): MemoryContext => core.context({ tenantId });

async function show(butler = 'home', session: string | null = sessionId): Promise<string> {
  const prompt = { triggerPrompt: 'green tea at breakfast', butler, sessionId: session };
  const { text } = await buildContext(context(), prompt);
  expect(text).toContain('green tea');
  passSeconds(core, 60);
  return text;
}

async function observe(content: string, session: string | null = sessionId): Promise<Episode> {
  const episode = await storeEpisode(context(), { butler: 'home', content, sessionId: session });
  passSeconds(core, 60);
  return episode;
}

/** As an engine would answer that takes all of the episode for a fact, or what is quoted of it. */
async function consolidate(episode: Episode, quote = episode.content): Promise<ConsolidationRun> {
  const { runId } = await claimNext(context());
  const evidence = [{ episode_id: episode.id, quote }];
  const fact = { subject: 'user', predicate: 'learned', content: 'Something that was learned', evidence };
  return applyOutput(context(), runId, { new_facts: [fact] });
}

const echo = [{ kind: 'new_facts', place: 0, reason: 'echo: repeats what had been shown to the session before' }];
const refused = { factsCreated: 0, refusedItems: echo };
const stored = { factsCreated: 1, refusedItems: [] };

describe('what a context has shown', () => {
  it('is no news when its session says it again, and is not stored', async () => {
    await show();
    const run = await consolidate(await observe('User drinks green tea at breakfast.'));

    expect(run).toMatchObject({ status: 'succeeded', ...refused });
    expect(await core.db.forTenant(tenantId).client.fact.count({ where: { tenantId } })).toBe(1);
  });

  it.each([
    'user drinks   GREEN tea at breakfast!!!',
    '- User drinks green tea at breakfast [standard, confirmed 1m ago]',
    'Known: user, drink: User drinks green tea at breakfast [standard, confirmed 1m ago]',
    'From what I remember, User drinks green tea at breakfast.',
    'Drinks green tea at breakfast',
    'user drinks green\ntea at breakfast',
  ])('is no news in other letters, marks and blanks: %j', async (content) => {
    await show();

    expect(await consolidate(await observe(content))).toMatchObject(refused);
  });

  it('is no news as the block that was shown', async () => {
    const text = await show();

    expect(await consolidate(await observe(text))).toMatchObject({ factsCreated: 0 });
  });

  it('is no news by a part of the sentence that repeats it', async () => {
    await show();
    const episode = await observe('The guest came late. User drinks green tea at breakfast.');

    expect(await consolidate(episode, 'green tea')).toMatchObject(refused);
  });

  it('confirms nothing and links nothing', async () => {
    await show();
    const episode = await observe('User drinks green tea at breakfast.');
    const { runId } = await claimNext(context());
    const evidence = evidenceOf(episode);
    const target = { target_type: 'fact', target_id: factId, evidence };
    const run = await applyOutput(context(), runId, {
      confirmations: [target],
      links: [{ ...target, relation: 'supports' }],
      updated_facts: [{ target_id: factId, content: 'User drinks green tea', evidence }],
    });

    expect(run).toMatchObject({ status: 'succeeded', confirmations: 0, linksCreated: 0, factsUpdated: 0 });
    expect(run.refusedItems).toHaveLength(3);
    expect(await getMemory(context(), { type: 'fact', id: factId })).toMatchObject({ row: { version: 1 } });
  });

  it('is news in another session, and from another butler', async () => {
    await show();
    await show('health', null);

    expect(await consolidate(await observe('User drinks green tea at breakfast.', uuidv7()))).toMatchObject(stored);
  });

  it('is news when it had been said before it was shown', async () => {
    const episode = await observe('User drinks green tea at breakfast.');
    await show();

    expect(await consolidate(episode)).toMatchObject(stored);
  });

  it.each([
    'I drink green tea at breakfast.',
    'User drinks green tea at breakfast no longer.',
    'It is not true that User drinks green tea at breakfast.',
    'Green tea',
  ])('is news when the user says it, or says otherwise: %j', async (content) => {
    await show();

    expect(await consolidate(await observe(content))).toMatchObject(stored);
  });

  it('leaves the episodes that are news as evidence', async () => {
    await show();
    const repeated = await observe('User drinks green tea at breakfast.');
    const said = await observe('I drink green tea every day.');
    const { runId } = await claimNext(context());
    const fact = { subject: 'user', predicate: 'drinks', content: 'green tea', evidence: evidenceOf(repeated, said) };
    const run = await applyOutput(context(), runId, { new_facts: [fact] });
    const links = await core.db
      .forTenant(tenantId)
      .client.memoryLink.findMany({ where: { tenantId, relation: 'derived_from' } });

    expect(run).toMatchObject(stored);
    expect(links.map(({ targetId }) => targetId)).toEqual([said.id]);
  });

  it('counts for a day where the session is not known', async () => {
    await show('home', null);
    expect(await consolidate(await observe('User drinks green tea at breakfast.'))).toMatchObject(refused);
    await show();
    expect(await consolidate(await observe('User drinks green tea at breakfast.', null))).toMatchObject(refused);
    passSeconds(core, 86_400);
    expect(await consolidate(await observe('User drinks green tea at breakfast.', null))).toMatchObject(stored);
  });

  it('is no news after the memory has changed or is forgotten', async () => {
    const rule = await storeRule(context(), { content: 'Serve green tea at breakfast in the blue pot' });
    await show();
    await editRule(context(), { ruleId: rule.id, content: 'Serve coffee' });
    await forgetMemory(context(), { type: 'fact', id: factId });

    const first = await observe('serve green tea at breakfast, in the blue pot');
    expect(await consolidate(first)).toMatchObject(refused);
    expect(await consolidate(await observe('User drinks green tea at breakfast'))).toMatchObject(refused);
  });

  it('counts when a recall has shown it, too', async () => {
    const outcome = await recallMemories(context(), { topic: 'green tea' });
    await keepReceipts(context(), [draftReceipt(context(), outcome, { kind: 'recall', butler: 'home', sessionId })]);
    passSeconds(core, 60);

    expect(await consolidate(await observe('User drinks green tea at breakfast.'))).toMatchObject(refused);
  });
});

describe('the guard', () => {
  it('asks the database once, whatever it is asked about, and not at all for nothing', async () => {
    await show();
    const episodes = await Promise.all([1, 2, 3].map((number) => observe(`The user has ${number} cups.`)));
    const observed = new Map(episodes.map((episode) => [episode.id, episode]));
    let statements = 0;
    const counting: MemoryContext = {
      ...context(),
      db: {
        ...context().db,
        get client() {
          statements += 1;
          return context().db.client;
        },
      },
    };
    await loadEchoes(counting, { butler: 'home', episodes: new Map() });
    expect(statements).toBe(0);
    const guard = await loadEchoes(counting, { butler: 'home', episodes: observed });
    const ids = episodes.map(({ id }) => id);

    expect(guard.requireNews(evidenceOf(...episodes), ids)).toEqual(ids);
    expect(statements).toBe(1);
  });
});
