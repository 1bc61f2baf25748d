import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryError } from '../../../src/shared/errors.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import { findMemory, type MemoryRow } from '../../../src/memory/memories.ts';
import type { Rule } from '../../../src/memory/rules/rules.ts';
import { createTestApp, type TestApp } from '../../support/app.ts';
import {
  confirmMemory,
  demoteRule,
  disableRule,
  editRule,
  enableRule,
  forgetMemory,
  markRule,
  promoteRule,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeRule,
  undoEvent,
} from '../../support/writes.ts';

let testApp: TestApp;
let names = 0;

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const context = (): MemoryContext => testApp.app.createContext().memory;
const newName = (): string => `name ${++names}`;
const store = (predicate: string, content: string): Promise<Fact> =>
  storeFact(context(), { subject: 'user', predicate, content });
const undo = (eventId: string): Promise<{ id: string; eventType: string }> => undoEvent(context(), { eventId });
const mark = (ruleId: string, outcome: 'helpful' | 'harmful', reason?: string): Promise<Rule> =>
  markRule(context(), { ruleId, outcome, reason });

async function read(type: 'fact' | 'rule' | 'episode', id: string): Promise<MemoryRow> {
  const found = await findMemory(context(), { type, id });
  return found?.row ?? expect.unreachable(`${type} ${id} is not there`);
}

/** The last event of that type on a memory. */
async function eventOf(entityId: string, eventType: string): Promise<string> {
  const event = await testApp.core.db
    .forTenant('default')
    .client.memoryEvent.findFirstOrThrow({ where: { entityId, eventType }, orderBy: { sequence: 'desc' } });
  return event.id;
}

async function countLinks(sourceId: string): Promise<number> {
  return testApp.core.db.forTenant('default').client.memoryLink.count({ where: { sourceId } });
}

async function countApplications(ruleId: string): Promise<number> {
  return testApp.core.db
    .forTenant('default')
    .client.ruleApplication.count({ where: { ruleId, retiredByEventId: null } });
}

describe('undoing', () => {
  it('the forgetting of a fact brings it back, and says what it reverts', async () => {
    const fact = await store(newName(), 'ramen');
    await forgetMemory(context(), { type: 'fact', id: fact.id });
    const forgotten = await eventOf(fact.id, 'fact.retracted');

    expect(await undo(forgotten)).toMatchObject({
      eventType: 'fact.undone',
      revertsEventId: forgotten,
      entityId: fact.id,
    });
    expect(await read('fact', fact.id)).toMatchObject({ validity: 'active', version: 3 });
  });

  it('a supersession gives the key back to the old fact, by the id of either event', async () => {
    for (const eventType of ['fact.stored', 'fact.superseded']) {
      const predicate = newName();
      const old = await store(predicate, 'ramen');
      const successor = await store(predicate, 'soba');
      await undo(await eventOf(eventType === 'fact.stored' ? successor.id : old.id, eventType));

      expect(await read('fact', old.id)).toMatchObject({ validity: 'active', supersededAt: null, validTo: null });
      expect(await read('fact', successor.id)).toMatchObject({ validity: 'retracted', supersedesId: null });
      expect(await countLinks(successor.id)).toBe(0);
    }
  });

  it('an undo does again what was undone', async () => {
    const predicate = newName();
    const old = await store(predicate, 'ramen');
    const successor = await store(predicate, 'soba');
    const undone = await undo(await eventOf(successor.id, 'fact.stored'));
    await undo(undone.id);

    expect(await read('fact', old.id)).toMatchObject({ validity: 'superseded' });
    expect(await read('fact', successor.id)).toMatchObject({ validity: 'active', supersedesId: old.id });
    expect(await countLinks(successor.id)).toBe(1);
  });

  it('the same event twice is refused, naming the first undo', async () => {
    const fact = await store(newName(), 'ramen');
    const stored = await eventOf(fact.id, 'fact.stored');
    const first = await undo(stored);

    await expect(undo(stored)).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(first.id) });
  });

  it('is refused when the memory was changed since, naming the later event', async () => {
    const predicate = newName();
    const old = await store(predicate, 'ramen');
    await store(predicate, 'soba');
    const superseded = await eventOf(old.id, 'fact.superseded');

    await expect(undo(await eventOf(old.id, 'fact.stored'))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(superseded),
    });
  });

  it('is refused when another fact took the key', async () => {
    const predicate = newName();
    const old = await store(predicate, 'ramen');
    await forgetMemory(context(), { type: 'fact', id: old.id });
    const live = await store(predicate, 'soba');

    await expect(undo(await eventOf(old.id, 'fact.retracted'))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(live.id),
    });
  });

  it('a confirmation puts the clock back', async () => {
    const fact = await store(newName(), 'ramen');
    const before = testApp.clock.now;
    testApp.clock.now = new Date(before.getTime() + 86_400_000);
    await confirmMemory(context(), { type: 'fact', id: fact.id });
    testApp.clock.now = before;
    await undo(await eventOf(fact.id, 'fact.confirmed'));

    expect(await read('fact', fact.id)).toMatchObject({ lastConfirmedAt: fact.lastConfirmedAt });
  });

  it('the storing of an episode or a rule forgets it', async () => {
    const episode = await storeEpisode(context(), { content: 'had lunch', butler: 'health' });
    const rule = await storeRule(context(), { content: 'ask before lunch' });
    await undo(await eventOf(episode.id, 'episode.stored'));
    await undo(await eventOf(rule.id, 'rule.stored'));

    expect(await read('episode', episode.id)).toMatchObject({ forgottenAt: testApp.clock.now });
    expect(await read('rule', rule.id)).toMatchObject({ validity: 'retracted' });
  });

  it('a mark takes its count away, whatever was marked since, and can be done again', async () => {
    const rule = await storeRule(context(), { content: newName() });
    await mark(rule.id, 'harmful');
    const harmful = await eventOf(rule.id, 'rule.marked_harmful');
    await mark(rule.id, 'helpful');
    const undone = await undo(harmful);

    expect(await read('rule', rule.id)).toMatchObject({ successCount: 1, harmfulCount: 0, appliedCount: 1 });
    expect(((await read('rule', rule.id)) as Rule).effectivenessScore).toBeCloseTo(1 / 1.01, 10);
    expect(await countApplications(rule.id)).toBe(1);
    await undo(undone.id);
    expect(await read('rule', rule.id)).toMatchObject({ successCount: 1, harmfulCount: 1, appliedCount: 2 });
    expect(await countApplications(rule.id)).toBe(2);
  });

  it('an inversion alone gives the rule its text back and keeps the marks', async () => {
    const content = newName();
    const rule = await storeRule(context(), { content });
    for (const reason of ['one', 'two', 'three']) await mark(rule.id, 'harmful', reason);
    expect(await read('rule', rule.id)).toMatchObject({ maturity: 'anti_pattern', decayRate: 0 });
    await undo(await eventOf(rule.id, 'rule.inverted'));

    expect(await read('rule', rule.id)).toMatchObject({
      maturity: 'candidate',
      content,
      originalContent: null,
      permanence: 'standard',
      harmfulCount: 3,
    });
  });

  it('the mark that inverted a rule takes the inversion with it', async () => {
    const rule = await storeRule(context(), { content: newName() });
    for (let harm = 0; harm < 3; harm++) await mark(rule.id, 'harmful');
    await undo(await eventOf(rule.id, 'rule.marked_harmful'));

    expect(await read('rule', rule.id)).toMatchObject({ maturity: 'candidate', harmfulCount: 2 });
    expect(await countApplications(rule.id)).toBe(2);
  });

  it('a mark on a text that was edited since is refused, naming the edit', async () => {
    const rule = await storeRule(context(), { content: newName() });
    await mark(rule.id, 'helpful');
    const marked = await eventOf(rule.id, 'rule.marked_helpful');
    await editRule(context(), { ruleId: rule.id, content: newName() });
    const edited = await eventOf(rule.id, 'rule.edited');

    await expect(undo(marked)).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(edited) });
    expect(await read('rule', rule.id)).toMatchObject({ successCount: 0, appliedCount: 0 });
  });

  it('again and again, a mark or an edit, always leaves the counters that its judgements add up to', async () => {
    for (const last of ['rule.marked_harmful', 'rule.edited']) {
      const rule = await storeRule(context(), { content: newName() });
      await mark(rule.id, 'harmful');
      if (last === 'rule.edited') await editRule(context(), { ruleId: rule.id, content: newName() });
      const counts: number[] = [];
      for (let event = await eventOf(rule.id, last); counts.length < 4;) {
        event = (await undo(event)).id;
        const { harmfulCount } = (await read('rule', rule.id)) as Rule;
        expect(await countApplications(rule.id)).toBe(harmfulCount);
        counts.push(harmfulCount);
      }
      expect(counts).toEqual(last === 'rule.edited' ? [1, 0, 1, 0] : [0, 1, 0, 1]);
    }
  });

  it('beside others who store and restore facts of the key lets each of them come to an end', async () => {
    for (let round = 0; round < 6; round++) {
      const predicate = newName();
      await store(predicate, 'ramen');
      const successor = await store(predicate, 'soba');
      const stored = await eventOf(successor.id, 'fact.stored');
      const gone = await store(newName(), 'tea');
      await forgetMemory(context(), { type: 'fact', id: gone.id });
      const forgotten = await eventOf(gone.id, 'fact.retracted');
      const outcomes = await Promise.allSettled([
        store(predicate, 'udon'),
        undo(stored),
        store(predicate, 'pho'),
        restoreMemory(context(), { type: 'fact', id: gone.id }),
        undo(forgotten),
      ]);

      const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
      for (const { reason } of refusals) expect(reason).toBeInstanceOf(MemoryError);
      expect(await read('fact', gone.id)).toMatchObject({ validity: 'active' });
    }
  });

  it('what concerns no memory is refused with the reason', async () => {
    await store(newName(), 'ramen');
    const event = await testApp.core.db
      .forTenant('default')
      .client.memoryEvent.findFirstOrThrow({ where: { entityType: 'embedding_version' } });

    await expect(undo(event.id)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  });
});

describe('a rule changed by hand', () => {
  it('starts anew as a candidate when its text is edited, and an undo gives back what it had earned', async () => {
    const rule = await storeRule(context(), { content: newName(), tags: ['a'] });
    for (let success = 0; success < 5; success++) await mark(rule.id, 'helpful');
    const edited = await editRule(context(), { ruleId: rule.id, content: 'another text', importance: 8 });

    expect(edited).toMatchObject({ content: 'another text', maturity: 'candidate', confidence: 0.5, importance: 8 });
    expect(edited).toMatchObject({ successCount: 0, appliedCount: 0, effectivenessScore: 0, tags: ['a'] });
    expect(await countApplications(rule.id)).toBe(0);
    await undo(await eventOf(rule.id, 'rule.edited'));
    expect(await read('rule', rule.id)).toMatchObject({
      maturity: 'established',
      successCount: 5,
      content: rule.content,
    });
    expect(await countApplications(rule.id)).toBe(5);
  });

  it('is promoted and demoted a step at a time, and no further than it goes', async () => {
    const { id: ruleId } = await storeRule(context(), { content: newName() });
    expect(await promoteRule(context(), { ruleId })).toMatchObject({ maturity: 'established' });
    expect(await promoteRule(context(), { ruleId })).toMatchObject({ maturity: 'proven' });
    await expect(promoteRule(context(), { ruleId })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
    expect(await demoteRule(context(), { ruleId })).toMatchObject({ maturity: 'established' });
  });

  it('is disabled and enabled, each once', async () => {
    const { id: ruleId } = await storeRule(context(), { content: newName() });
    expect(await disableRule(context(), { ruleId })).toMatchObject({ disabledAt: testApp.clock.now });
    await expect(disableRule(context(), { ruleId })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
    expect(await enableRule(context(), { ruleId })).toMatchObject({ disabledAt: null });
  });
});
