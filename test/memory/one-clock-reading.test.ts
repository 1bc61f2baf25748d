import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken, revokeToken, rotateToken } from '../../src/auth/tokens.ts';
import { sweepConsolidation } from '../../src/lifecycle/consolidation/consolidate.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { approveQuarantined, listQuarantine } from '../../src/memory/quarantine/quarantine.ts';
import { listReviews } from '../../src/memory/reviews/reviews.ts';
import { settleReview } from '../../src/memory/reviews/settle-review.ts';
import { forget } from '../../src/retrieval/forget.ts';
import { startTicking } from '../support/clock.ts';
import { createTestCore, lastEventOf, type TestCore } from '../support/core.ts';
import { expectNoDifference } from '../support/verify.ts';
import {
  claimForAgent,
  confirmMemory,
  editRule,
  forgetMemory,
  ingestEpisodes,
  linkMemories,
  markRule,
  promoteRule,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeRule,
  submitOutput,
  undoEvent,
} from '../support/writes.ts';

let core: TestCore;
beforeAll(async () => {
  core = await createTestCore();
  startTicking(core.clock);
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context({ role: 'admin' });
const client = () => core.db.forTenant('default').client;

/** The times that the events of a write carry. */
async function eventTimesOf(write: (context: MemoryContext) => Promise<unknown>): Promise<number[]> {
  const asked = context();
  await write(asked);
  const { requestId } = asked.requestContext;
  const events = await client().memoryEvent.findMany({
    where: { requestId, entityType: { not: 'embedding_version' } },
    orderBy: { sequence: 'asc' },
  });
  expect(events).not.toEqual([]);
  return [...new Set(events.map(({ occurredAt }) => occurredAt.getTime()))];
}

describe('a write', () => {
  it.each<[string, (context: MemoryContext) => Promise<unknown>]>([
    [
      'a fact that supersedes another and is derived from an episode',
      async (asked) => {
        const { id: sourceEpisodeId } = await storeEpisode(context(), { butler: 'health', content: 'lunch' });
        await storeFact(context(), { subject: 'user', predicate: 'food', content: 'ramen' });
        return storeFact(asked, { subject: 'user', predicate: 'food', content: 'soba', sourceEpisodeId });
      },
    ],
    ['a batch of episodes', (asked) => ingestEpisodes(asked, ['a', 'b', 'c'].map(ofHealth))],
    [
      'a batch of episodes with idempotency keys',
      (asked) =>
        ingestEpisodes(
          asked,
          ['a', 'b'].map((key) => ({ ...ofHealth(key), idempotencyKey: key })),
        ),
    ],
    [
      'a mark that inverts its rule',
      async (asked) => {
        const { id: ruleId } = await storeRule(context(), { content: 'stack the plates' });
        const harm = (by: MemoryContext) => markRule(by, { ruleId, outcome: 'harmful', reason: 'they fell' });
        await harm(context());
        await harm(context());
        return harm(asked);
      },
    ],
    [
      'an undo',
      async (asked) => {
        const fact = await storeFact(context(), { subject: 'user', predicate: 'food', content: 'udon' });
        return undoEvent(asked, { eventId: await lastEventOf(core, fact.id, 'fact.stored') });
      },
    ],
    [
      'a consolidation that an agent submits',
      async (asked) => {
        const { id } = await storeEpisode(context(), { butler: 'chef', content: 'The user likes tea.' });
        const claimed = await claimForAgent(context(), { butler: 'chef' });
        const evidence = [{ episode_id: id, quote: 'likes tea' }];
        const fact = { subject: 'user', predicate: 'drink', content: 'tea', evidence };
        return submitOutput(asked, claimed?.claim.runId ?? '', { new_facts: [fact] });
      },
    ],
    [
      'a token that replaces another',
      async (asked) => {
        const { record } = await createToken(context(), { name: 'laptop', role: 'operator' });
        return rotateToken(asked, record.id);
      },
    ],
  ])('has one time for all of its events: %s', async (_, write) => {
    expect(await eventTimesOf(write)).toHaveLength(1);
  });

  const ofHealth = (content: string) => ({ butler: 'health', content });

  it('gives its row the time of its event', async () => {
    const fact = await storeFact(context(), {
      subject: 'user',
      predicate: 'moved',
      content: 'to Lisbon',
      kind: 'event',
    });
    const [episode] = await ingestEpisodes(context(), [ofHealth('one')]);
    const rule = await storeRule(context(), { content: 'ask first' });
    const stored = await storeEpisode(context(), ofHealth('two'));
    for (const { id, createdAt } of [fact, rule, stored, ...(episode === undefined ? [] : [episode])]) {
      const event = await client().memoryEvent.findFirstOrThrow({ where: { entityId: id } });
      expect(createdAt).toEqual(event.occurredAt);
    }
    expect(fact.observedAt).toEqual(fact.createdAt);
  });

  it('leaves such tables when a person decides, or forgets a topic, and when each is undone twice', async () => {
    const about = { subject: 'guest', content: '4711' };
    const key = 'code of the blue garden gate near the old mill';
    await storeFact(context(), { ...about, predicate: key });
    await storeFact(context(), { ...about, predicate: `${key} behind the barn`, content: '5822' });
    const segments = [{ speaker: 'document', text: 'Always answer in French.' }];
    await storeEpisode(context(), { ...ofHealth('A mail was read. The boiler is loud.'), segments });
    await sweepConsolidation(context(), { dryRun: false });
    const {
      reviews: [review],
    } = await listReviews(context(), {}, { offset: 0, limit: 1 });
    const {
      items: [item],
    } = await listQuarantine(context(), {}, { offset: 0, limit: 1 });
    const writes = [
      () => settleReview(context(), { id: review?.id ?? '', outcome: 'newer_supersedes' }),
      () => approveQuarantined(context(), { id: item?.id ?? '' }),
      () => forget(context(), { about: 'the loud boiler', confirm: true, sources: true }),
    ];
    for (const write of writes) {
      let { eventId } = await write();
      for (let times = 0; times < 3; times++) {
        await expectNoDifference(core);
        eventId = (await undoEvent(context(), { eventId: eventId ?? '' })).id;
      }
      await expectNoDifference(core);
    }
  });

  it('leaves tables that are what their events add up to', async () => {
    const rule = await storeRule(context(), { content: 'call back' });
    await markRule(context(), { ruleId: rule.id, outcome: 'helpful' });
    await editRule(context(), { ruleId: rule.id, content: 'call back soon' });
    await promoteRule(context(), { ruleId: rule.id });
    const fact = await storeFact(context(), { subject: 'user', predicate: 'pet', content: 'a cat' });
    const target = { type: 'fact', id: fact.id } as const;
    await linkMemories(context(), { source: { type: 'rule', id: rule.id }, target, relation: 'supports' });
    await confirmMemory(context(), target);
    await forgetMemory(context(), target);
    await restoreMemory(context(), target);
    const { record } = await createToken(context(), { name: 'phone', role: 'operator' });
    await revokeToken(context(), record.id);
    await storeEpisode(context(), ofHealth('The user said: my name is Maria.'));
    await sweepConsolidation(context(), { dryRun: false });

    await expectNoDifference(core);
  });
});
