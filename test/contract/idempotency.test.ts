import { getNamedType, isInputObjectType, type GraphQLInputType } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { lastEventOf } from '../support/core.ts';
import { writeConfirmation } from '../../src/memory/confirm.ts';
import { mutate } from '../../src/memory/mutation.ts';
import { listQuarantine, quarantine } from '../../src/memory/quarantine/quarantine.ts';
import { openReview } from '../../src/memory/reviews/reviews.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door, type RuleChange } from './doors.ts';

/** A write, ready to be sent under a key: as it is, or with other input. */
interface Sendable {
  send(idempotencyKey: string): Promise<unknown>;
  sendOther(idempotencyKey: string): Promise<unknown>;
}

/** Undefined where the door does not offer the write. */
type Write = (door: Door) => Promise<Sendable | undefined>;

describe('a write under an idempotency key', () => {
  let testApp: TestApp;
  let door: Door;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  const newName = (): string => `name ${++names}`;
  const newRule = async (open: Door): Promise<string> => (await open.storeRule({ content: newName() })).id;
  const newFact = async (open: Door): Promise<string> =>
    (await open.storeFact({ subject: 'user', predicate: newName(), content: 'tea' })).id;

  async function newReview(open: Door): Promise<string> {
    // So unlike the first that the write of the second opens no review of the two.
    const other = await open.storeFact({ subject: 'garden', predicate: newName(), content: 'The roses need rain' });
    const factIds = [await newFact(open), other.id] as const;
    const { memory } = testApp.app.createContext({});
    const { value: id } = await mutate(memory, async (mutation) => {
      await writeConfirmation(mutation, { type: 'fact', id: factIds[1] });
      return openReview(mutation, { kind: 'same_thing', factIds, reason: 'looks_alike' });
    });
    return id ?? '';
  }

  async function newQuarantinedItem(open: Door): Promise<string> {
    const { id: episodeId } = await open.storeEpisode({ butler: 'home', content: newName() });
    const fact = { type: 'fact', id: await newFact(open) } as const;
    const { memory } = testApp.app.createContext({});
    await mutate(memory, async (mutation) => {
      await writeConfirmation(mutation, fact);
      await quarantine(mutation, 'home', [{ episodeId, kind: 'fact', content: newName() }]);
    });
    const { items } = await listQuarantine(memory, {}, { offset: 0, limit: 1 });
    return items[0]?.id ?? '';
  }

  const ofQuarantined = (operation: 'approveQuarantined' | 'refuseQuarantined'): Write => {
    return async (open) => {
      const decide = open[operation];
      if (decide === undefined) return undefined;
      return onEither(
        () => newQuarantinedItem(open),
        (id, idempotencyKey) => decide({ id, idempotencyKey }),
      );
    };
  };

  /** Of the same kind for one memory and for another one. */
  async function onEither(
    create: () => Promise<string>,
    write: (id: string, idempotencyKey: string) => Promise<unknown>,
  ): Promise<Sendable> {
    const [id, otherId] = [await create(), await create()];
    return { send: (key) => write(id, key), sendOther: (key) => write(otherId, key) };
  }

  const ofFact = (operation: 'confirmMemory' | 'forgetMemory' | 'restoreMemory'): Write => {
    const create = async (open: Door): Promise<string> => {
      const id = await newFact(open);
      if (operation === 'restoreMemory') await open.forgetMemory({ type: 'fact', id });
      return id;
    };
    return (open) =>
      onEither(
        () => create(open),
        (id, idempotencyKey) => open[operation]({ type: 'fact', id, idempotencyKey }),
      );
  };

  const ofMark =
    (outcome: 'helpful' | 'harmful'): Write =>
    (open) =>
      onEither(
        () => newRule(open),
        (ruleId, idempotencyKey) => open.markRule({ ruleId, outcome, reason: 'so', idempotencyKey }),
      );

  const ofRuleChange =
    (change: RuleChange, before?: RuleChange): Write =>
    async (open) => {
      const { changeRule } = open;
      if (changeRule === undefined) return undefined;
      const create = async (): Promise<string> => {
        const ruleId = await newRule(open);
        if (before !== undefined) await changeRule(before, { ruleId });
        return ruleId;
      };
      return onEither(create, (ruleId, idempotencyKey) => changeRule(change, { ruleId, idempotencyKey }));
    };

  const writes: [string, Write][] = [
    [
      'storeEpisode',
      async (open) => ({
        send: (idempotencyKey) => open.storeEpisode({ butler: 'home', content: 'tea', idempotencyKey }),
        sendOther: (idempotencyKey) => open.storeEpisode({ butler: 'home', content: 'coffee', idempotencyKey }),
      }),
    ],
    [
      'ingestEpisodes',
      async (open) => ({
        send: (idempotencyKey) => open.ingestEpisodes([{ butler: 'home', content: 'tea', idempotencyKey }]),
        sendOther: (idempotencyKey) => open.ingestEpisodes([{ butler: 'home', content: 'coffee', idempotencyKey }]),
      }),
    ],
    [
      'storeFact',
      async (open) => {
        const fact = { subject: 'user', predicate: newName(), content: 'tea' };
        return {
          send: (idempotencyKey) => open.storeFact({ ...fact, idempotencyKey }),
          sendOther: (idempotencyKey) => open.storeFact({ ...fact, content: 'coffee', idempotencyKey }),
        };
      },
    ],
    [
      'storeRule',
      async (open) => ({
        send: (idempotencyKey) => open.storeRule({ content: 'ask first', idempotencyKey }),
        sendOther: (idempotencyKey) => open.storeRule({ content: 'ask last', idempotencyKey }),
      }),
    ],
    [
      'storeNote',
      async (open) => {
        const content = newName();
        return {
          send: (idempotencyKey) => open.storeNote({ content, tier: 'mid', idempotencyKey }),
          sendOther: (idempotencyKey) => open.storeNote({ content, tier: 'long', idempotencyKey }),
        };
      },
    ],
    ['confirmMemory', ofFact('confirmMemory')],
    ['forgetMemory', ofFact('forgetMemory')],
    ['restoreMemory', ofFact('restoreMemory')],
    ['markRuleHelpful', ofMark('helpful')],
    ['markRuleHarmful', ofMark('harmful')],
    ['promoteRule', ofRuleChange('promoteRule')],
    ['demoteRule', ofRuleChange('demoteRule', 'promoteRule')],
    ['disableRule', ofRuleChange('disableRule')],
    ['enableRule', ofRuleChange('enableRule', 'disableRule')],
    [
      'editRule',
      async (open) => {
        const { editRule } = open;
        if (editRule === undefined) return undefined;
        const ruleId = await newRule(open);
        return {
          send: (idempotencyKey) => editRule({ ruleId, content: 'ask first', idempotencyKey }),
          sendOther: (idempotencyKey) => editRule({ ruleId, content: 'ask last', idempotencyKey }),
        };
      },
    ],
    [
      'linkMemories',
      async (open) => {
        const { linkMemories } = open;
        if (linkMemories === undefined) return undefined;
        const [source, target] = [await newFact(open), await newFact(open)];
        const ends = { source: { type: 'fact', id: source }, target: { type: 'fact', id: target } } as const;
        return {
          send: (idempotencyKey) => linkMemories({ ...ends, relation: 'supports', idempotencyKey }),
          sendOther: (idempotencyKey) => linkMemories({ ...ends, relation: 'related_to', idempotencyKey }),
        };
      },
    ],
    ['approveQuarantined', ofQuarantined('approveQuarantined')],
    ['refuseQuarantined', ofQuarantined('refuseQuarantined')],
    [
      'settleReview',
      async (open) => {
        const { settleReview } = open;
        if (settleReview === undefined) return undefined;
        const id = await newReview(open);
        return {
          send: (idempotencyKey) => settleReview({ id, outcome: 'keep_both', idempotencyKey }),
          sendOther: (idempotencyKey) => settleReview({ id, outcome: 'newer_supersedes', idempotencyKey }),
        };
      },
    ],
    [
      'undo',
      (open) =>
        onEither(
          async () => lastEventOf(testApp.core, await newFact(open)),
          (eventId, idempotencyKey) => open.undo({ eventId, idempotencyKey }),
        ),
    ],
  ];

  it('is any but those of which the glossary says why they need none', () => {
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
    const withKey = mutations.filter(({ args }) => args.some(({ type }) => takesKey(type))).map(({ name }) => name);

    expect(withKey.toSorted()).toEqual(writes.map(([name]) => name).toSorted());
    expect(mutations.map(({ name }) => name).filter((name) => !withKey.includes(name))).toEqual([
      'claimConsolidation',
      'eraseMemory',
      'eraseSubject',
      'failConsolidation',
      'renewConsolidation',
      'requeueEpisodes',
      'runJob',
      'submitConsolidation',
    ]);
  });

  const countEvents = (): Promise<number> => testApp.core.db.forTenant('default').client.memoryEvent.count();

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it.each(writes)('is done once and answered alike, and the key is not for another: %s', async (_name, prepare) => {
      const write = await prepare(door);
      if (write === undefined) return expect(door.name).toBe('MCP');
      const key = newName();
      const before = await countEvents();
      const first = await write.send(key);
      const [eventId, events] = [door.lastEventId?.(), await countEvents()];

      expect(events).toBeGreaterThan(before);
      expect(await write.send(key)).toEqual(first);
      expect(door.lastEventId?.()).toEqual(eventId);
      await expect(write.sendOther(key)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await countEvents()).toBe(events);
    });

    it('is refused when the key stands for a write of another kind', async () => {
      const id = await newFact(door);
      const idempotencyKey = newName();
      await door.confirmMemory({ type: 'fact', id, idempotencyKey });

      await expect(door.forgetMemory({ type: 'fact', id, idempotencyKey })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('used for confirm') as string,
      });
      expect(await door.getMemory({ type: 'fact', id })).toMatchObject({ validity: 'active' });
    });
  });
});

/** It or one of those that it is a list of. */
function takesKey(given: GraphQLInputType): boolean {
  const type = getNamedType(given);
  if (!isInputObjectType(type)) return false;
  const fields = Object.values(type.getFields());
  return fields.some((field) => field.name === 'idempotencyKey' || takesKey(field.type));
}
