import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRows } from '../../../src/encryption/sealing.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import type { StoreFactInput } from '../../../src/memory/facts/fact-values.ts';
import { createTestApp, type TestApp } from '../../support/app.ts';
import { testEngine } from '../../support/database.ts';
import { storeFact, storeNote } from '../../support/writes.ts';

let testApp: TestApp;
let predicates = 0;

beforeAll(async () => {
  testApp = await createTestApp();
});
afterAll(() => testApp.close());

const context = (): MemoryContext => testApp.app.createContext().memory;
const store = (input: Partial<StoreFactInput>): Promise<Fact> =>
  storeFact(context(), { subject: 'user', predicate: 'food', content: 'ramen', ...input });
/** A key that no other test uses. */
const newPredicate = (): string => `predicate ${++predicates}`;

async function readFacts(predicate: string): Promise<Fact[]> {
  const facts = await testApp.core.db.forTenant('default').client.fact.findMany({ where: { predicate } });
  const opened = await openRows(testApp.app.createContext().memory, facts);
  return opened.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

describe('a second fact of the same key', () => {
  it('supersedes the first in one transaction, with link and events', async () => {
    const predicate = newPredicate();
    const first = await store({ predicate, content: 'ramen' });
    const second = await store({ predicate, content: 'soba' });

    const [before, after] = await readFacts(predicate);
    expect(before).toMatchObject({ id: first.id, validity: 'superseded', supersededAt: testApp.clock.now, version: 2 });
    expect(after).toMatchObject({ id: second.id, validity: 'active', supersedesId: first.id });
    const [links, events] = await testApp.core.db.forTenant('default').transaction(async (transaction) => [
      await transaction.memoryLink.findMany({ where: { sourceId: second.id } }),
      await transaction.memoryEvent.findMany({
        where: { OR: [{ entityId: { in: [first.id, second.id] } }, { entityId: { contains: second.id } }] },
        orderBy: { sequence: 'asc' },
      }),
    ]);
    expect(links).toMatchObject([{ relation: 'supersedes', targetId: first.id }]);
    expect(events.map(({ eventType }) => eventType)).toEqual([
      'fact.stored',
      'fact.superseded',
      'fact.stored',
      'link.created',
    ]);
    const stored = events[2];
    expect(events[1]).toMatchObject({
      causeEventId: stored?.id,
      payload: { before: { validity: 'active' }, after: { validity: 'superseded' } },
    });
    expect(events[3]).toMatchObject({ causeEventId: stored?.id });
    expect(stored?.causeEventId).toBeNull();
  });

  it('takes no fact of another from all for a butler that stores it for itself', async () => {
    const { memory: alfred } = testApp.app.createContext({}, { tenantId: 'default', role: 'butler', butler: 'alfred' });
    const shared = { subject: 'user', content: 'ramen' };
    const ofOther = await store({ predicate: newPredicate(), sourceButler: 'berta' });
    const ofAlfred = await store({ predicate: newPredicate(), sourceButler: 'alfred' });
    const hide = ({ id }: Fact): Promise<Fact> =>
      storeFact(alfred, { ...shared, predicate: newPredicate(), scope: 'alfred', supersedes: id });

    await expect(hide(ofOther)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(storeNote(alfred, { content: 'ramen it is', supersedes: ofOther.id })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(await hide(ofAlfred)).toMatchObject({ supersedesId: ofAlfred.id });
    // As it may by storing one of the same key.
    const beside = { ...shared, predicate: newPredicate(), supersedes: ofOther.id };
    expect(await storeFact(alfred, beside)).toMatchObject({ supersedesId: ofOther.id, scope: 'global' });
  });

  it('confirms the first when it says the same, and takes over what else was given', async () => {
    const predicate = newPredicate();
    const first = await store({ predicate });
    const again = await store({ predicate, importance: 9 });

    expect(again).toMatchObject({ id: first.id, importance: 9, permanence: 'standard', version: 2 });
    expect(await readFacts(predicate)).toHaveLength(1);
  });

  it('is refused when it says the same, with an end before the beginning of the first', async () => {
    const predicate = newPredicate();
    await store({ predicate, validFrom: new Date('2026-02-01T00:00:00Z') });

    await expect(store({ predicate, validTo: new Date('2026-01-01T00:00:00Z') })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('valid_to') as string,
    });
  });

  it('knows its key whatever the case, blanks and dashes', async () => {
    const predicate = newPredicate();
    const first = await store({ predicate });
    const second = await store({
      predicate: predicate.toUpperCase().replace(' ', '-'),
      subject: ' User ',
      content: 'udon',
    });

    expect(second.supersedesId).toBe(first.id);
  });

  it('leaves another scope alone and notes the contradiction', async () => {
    const predicate = newPredicate();
    const global = await store({ predicate, content: 'tea' });
    const own = await store({ predicate, content: 'coffee', scope: 'health' });

    expect((await readFacts(predicate)).map(({ validity }) => validity)).toEqual(['active', 'active']);
    const links = await testApp.core.db
      .forTenant('default')
      .client.memoryLink.findMany({ where: { sourceId: own.id } });
    expect(links).toMatchObject([{ relation: 'contradicts', targetId: global.id }]);
  });

  it('lets events of the same key stand side by side', async () => {
    const predicate = newPredicate();
    const observedAt = new Date('2026-02-01T19:00:00Z');
    await store({ predicate, kind: 'event', observedAt });
    await store({ predicate, kind: 'event', content: 'soba', observedAt });

    expect((await readFacts(predicate)).map(({ validity }) => validity)).toEqual(['active', 'active']);
  });

  it('gives the first answer again for the same idempotency key, and refuses the key for other input', async () => {
    const predicate = newPredicate();
    const first = await store({ predicate, idempotencyKey: predicate });
    const again = await store({ predicate, idempotencyKey: predicate });

    expect(again).toEqual(first);
    await expect(store({ predicate, content: 'other', idempotencyKey: predicate })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('is one of many concurrent writers, who all succeed and leave one live fact and one chain', async () => {
    const predicate = newPredicate();
    const writers = testEngine === 'postgres' ? 50 : 12;
    await Promise.all(Array.from({ length: writers }, (_, number) => store({ predicate, content: `dish ${number}` })));

    const facts = await readFacts(predicate);
    expect(facts).toHaveLength(writers);
    expect(facts.filter(({ validity }) => validity === 'active')).toHaveLength(1);
    const byId = new Map(facts.map((fact) => [fact.id, fact]));
    const chain: Fact[] = [];
    let link = facts.find(({ validity }) => validity === 'active');
    while (link !== undefined && chain.length <= writers) {
      chain.push(link);
      link = byId.get(link.supersedesId ?? '');
    }
    expect(chain).toHaveLength(writers);
  });
});
