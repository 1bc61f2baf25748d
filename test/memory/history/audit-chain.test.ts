import { createHash, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, readMigrations } from '../../../src/db/migrate.ts';
import {
  findChainHead,
  findChainProblems,
  readHead,
  writeHead,
  type ChainProblem,
} from '../../../src/memory/history/audit-chain.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { mutate } from '../../../src/memory/mutation.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { createEmptyDatabase } from '../../support/database.ts';
import { insertRow, rowOf } from '../../support/rows.ts';
import { ingestEpisodes, storeFact } from '../../support/writes.ts';

let core: TestCore;
function useCore(): void {
  beforeEach(async () => {
    core = await createTestCore();
  });
  afterEach(() => core.close());
}

const context = (tenantId = 'default'): MemoryContext => core.context({ tenantId });

async function problemsOf(
  kept?: Parameters<typeof findChainProblems>[1],
  tenantId = 'default',
): Promise<ChainProblem[]> {
  const found: ChainProblem[] = [];
  for await (const problem of findChainProblems(context(tenantId), kept)) found.push(problem);
  return found;
}

const brief = (problems: ChainProblem[]): unknown[] =>
  problems.map(({ kind, position, eventId }) => [kind, position === null ? null : Number(position), eventId]);

/** As somebody who owns the tables, and has put their triggers out of the way. */
async function tamper(statement: string, values: unknown[] = []): Promise<void> {
  await core.db.asOwner(async (client) => {
    await client.query('ALTER TABLE memory_events DISABLE TRIGGER USER; ALTER TABLE event_chain DISABLE TRIGGER USER');
    await client.query(statement, values);
    await client.query('ALTER TABLE memory_events ENABLE TRIGGER USER; ALTER TABLE event_chain ENABLE TRIGGER USER');
  });
}

/** The events of the tenant by their places in the chain, from 1 on. */
async function chainedEvents(): Promise<string[]> {
  const entries = await core.db.forTenant('default').client.eventChain.findMany({ orderBy: { position: 'asc' } });
  expect(entries.map(({ position }) => Number(position))).toEqual(entries.map((_, index) => index + 1));
  return ['', ...entries.map(({ eventId }) => eventId)];
}

async function storeFacts(count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await storeFact(context(), { subject: `guest ${number}`, predicate: 'drink', content: `tea ${number}` });
  }
}

describe('the chain of events', () => {
  useCore();

  it('is empty before anything was done', async () => {
    expect(await findChainHead(context())).toBeNull();
    expect(await problemsOf()).toEqual([]);
  });

  it('has every event once, in the order of the commits, and is sound', async () => {
    await storeFacts(2);
    await storeFact(context(), { subject: 'guest 1', predicate: 'drink', content: 'coffee' });
    const events = await core.db.forTenant('default').client.memoryEvent.findMany({ orderBy: { sequence: 'asc' } });

    expect(await chainedEvents()).toEqual(['', ...events.map(({ id }) => id)]);
    expect(await problemsOf()).toEqual([]);
    expect(await findChainHead(context())).toMatchObject({
      position: BigInt(events.length),
      eventId: events.at(-1)?.id,
      at: events.at(-1)?.occurredAt,
    });
  });

  it('can be computed by anybody from what the events say', async () => {
    await storeFacts(2);
    const events = await core.db.forTenant('default').client.memoryEvent.findMany({ orderBy: { sequence: 'asc' } });
    const sha256 = (...parts: (string | Buffer)[]): Buffer =>
      parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
    let hash = sha256('butler-memory event chain 1 default');
    for (const event of events) {
      const { rows } = await core.db.asOwner((client) =>
        client.query<{ payload: string }>('SELECT payload::text FROM memory_events WHERE id = $1', [event.id]),
      );
      const fields = [event.id, Number(event.sequence), event.eventType, event.entityType, event.entityId];
      const origin = [event.occurredAt.getTime(), event.actor, event.requestId, event.subrequestId, event.segmentId];
      const digest = sha256(rows[0]?.payload ?? '').toString('hex');
      const content = [...fields, ...origin, event.causeEventId, event.revertsEventId, digest];
      hash = sha256(hash, `[${content.map((value) => JSON.stringify(value)).join(', ')}]`);
    }
    expect((await findChainHead(context()))?.hash).toBe(hash.toString('hex'));
  });

  it('of 1,000 events of two transactions is sound, and so is what follows', async () => {
    const episodes = Array.from({ length: 500 }, (_, index) => ({ butler: 'home', content: `Tea ${index}` }));
    await ingestEpisodes(context(), episodes);
    await ingestEpisodes(context(), episodes);
    await storeFacts(1);

    expect((await findChainHead(context()))?.position).toBeGreaterThan(1000n);
    expect(await problemsOf()).toEqual([]);
  });

  it('goes on after a transaction that failed, and after part of one that was taken back', async () => {
    await storeFacts(1);
    const attempt = mutate(context(), async (mutation) => {
      await mutation.record({ eventType: 'tenant.entered', entityType: 'tenant', entityId: 'default' });
      throw new Error('changed my mind');
    });
    await expect(attempt).rejects.toThrow('changed my mind');
    await core.db.asOwner(async (client) => {
      await client.query('BEGIN');
      await insertRow(client, 'memory_events', rowOf('memory_events', 'default'));
      await client.query('SAVEPOINT here');
      await insertRow(client, 'memory_events', rowOf('memory_events', 'default'));
      await client.query('ROLLBACK TO SAVEPOINT here');
      await insertRow(client, 'memory_events', rowOf('memory_events', 'default'));
      await client.query('SET CONSTRAINTS ALL IMMEDIATE');
      await insertRow(client, 'memory_events', rowOf('memory_events', 'default'));
      await client.query('COMMIT');
    });
    await storeFacts(2);

    const count = await core.db.forTenant('default').client.memoryEvent.count();
    expect(await chainedEvents()).toHaveLength(count + 1);
    expect(await problemsOf()).toEqual([]);
  });

  it('is one for each tenant, also when one transaction writes to several', async () => {
    await core.db.asOwner(async (client) => {
      await client.query('BEGIN');
      for (const tenant of ['default', 'other', 'default', 'other']) {
        await insertRow(client, 'memory_events', rowOf('memory_events', tenant));
      }
      await client.query('COMMIT');
    });
    for (const tenant of ['default', 'other']) {
      expect((await findChainHead(context(tenant)))?.position).toBe(2n);
      expect(await problemsOf(undefined, tenant)).toEqual([]);
    }
  });

  it('stays whole when many write at once', async () => {
    await storeFacts(1);
    const writes = Array.from({ length: 15 }, (_, number) =>
      storeFact(context(), {
        subject: 'user',
        predicate: number % 2 === 0 ? 'drink 1' : `food ${number}`,
        content: `${number}`,
      }),
    );
    await Promise.all(writes);

    expect(await chainedEvents()).toHaveLength((await core.db.forTenant('default').client.memoryEvent.count()) + 1);
    expect(await problemsOf()).toEqual([]);
  });

  it('takes in the events that were there before it', async () => {
    const migrations = await readMigrations();
    const place = migrations.findIndex(({ name }) => name.endsWith('event_chain'));
    const older = await createEmptyDatabase();
    await migrate(older.database, migrations.slice(0, place));
    await older.database.asOwner(async (client) => {
      for (const tenant of ['default', 'other', 'default']) {
        await insertRow(client, 'memory_events', rowOf('memory_events', tenant));
      }
    });
    await migrate(older.database);
    await older.database.asOwner((client) => insertRow(client, 'memory_events', rowOf('memory_events', 'default')));

    const { principal } = context();
    const db = older.database.forTenant(principal.tenantId);
    expect((await findChainHead({ db, principal }))?.position).toBe(3n);
    for await (const problem of findChainProblems({ db, principal })) expect(problem).toBeUndefined();
    await older.drop();
  });
});

describe('what was done past the server', () => {
  useCore();

  let events: string[];
  beforeEach(async () => {
    await storeFacts(5);
    events = await chainedEvents();
  });

  it.each([
    ['payload', `payload = jsonb_set(payload, '{after,content}', '"coffee"')`],
    ['actor', `actor = 'somebody else'`],
    ['time', `occurred_at = occurred_at - interval '1 day'`],
    ['request', `request_id = 'another'`],
    ['cause', 'cause_event_id = NULL'],
    ['sequence', 'sequence = DEFAULT'],
  ])('is found when the %s of an event was changed', async (_what, change) => {
    const id = change.startsWith('cause') ? await causedEvent() : (events[3] ?? '');
    await tamper(`UPDATE memory_events SET ${change} WHERE id = $1`, [id]);
    expect(brief(await problemsOf())).toEqual([['changed', (await chainedEvents()).indexOf(id), id]]);
  });

  it('is found when an event was deleted', async () => {
    await tamper('DELETE FROM memory_events WHERE id = $1', [events[3]]);
    expect(brief(await problemsOf())).toEqual([['missing', 3, events[3]]]);
  });

  it('is found when an event and its entry were deleted', async () => {
    await tamper('DELETE FROM memory_events WHERE id = $1', [events[3]]);
    await tamper('DELETE FROM event_chain WHERE event_id = $1', [events[3]]);
    expect(brief(await problemsOf())).toEqual([['missing', 4, events[4]]]);
  });

  it('is found when the end was cut off, by a head that was kept', async () => {
    const kept = await findChainHead(context());
    if (kept === null) throw new Error('there is a head');
    expect(await problemsOf(kept)).toEqual([]);
    await tamper('DELETE FROM memory_events WHERE id = ANY ($1::uuid[])', [events.slice(-2)]);
    await tamper('DELETE FROM event_chain WHERE event_id = ANY ($1::uuid[])', [events.slice(-2)]);

    expect(await problemsOf()).toEqual([]);
    expect(brief(await problemsOf(kept))).toEqual([['other_head', events.length - 1, null]]);
    // What is written since does not heal it.
    await storeFact(context(), { subject: 'user', predicate: 'drink 6', content: 'tea' });
    await storeFact(context(), { subject: 'user', predicate: 'drink 7', content: 'tea' });
    expect((await problemsOf(kept)).map(({ kind }) => kind)).toEqual(['other_head']);
  });

  it('is found when everything was hashed anew, by a head that was kept', async () => {
    const kept = await findChainHead(context());
    if (kept === null) throw new Error('there is a head');
    await tamper(`UPDATE memory_events SET actor = 'somebody else' WHERE id = $1`, [events[2]]);
    await tamper(`
      UPDATE event_chain SET hash = anew.hash FROM (
        SELECT position, memory_chain(memory_chain_start('default'), memory_event_content(e, payload_digest))
          OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS hash
        FROM event_chain JOIN memory_events e ON e.id = event_id
      ) anew WHERE anew.position = event_chain.position`);

    expect(await problemsOf()).toEqual([]);
    expect((await problemsOf(kept)).map(({ kind }) => kind)).toEqual(['other_head']);
  });

  it('is found when two events have changed places in the chain', async () => {
    await tamper('DROP INDEX event_chain_by_event');
    await tamper(
      'UPDATE event_chain SET event_id = CASE position WHEN 2 THEN $1::uuid ELSE $2::uuid END WHERE position IN (2, 4)',
      [events[4], events[2]],
    );
    expect(brief(await problemsOf())).toEqual([
      ['reordered', 2, events[4]],
      ['reordered', 4, events[2]],
    ]);
  });

  it('is found when two events have changed places in the sequence', async () => {
    await tamper('ALTER TABLE memory_events ALTER sequence DROP IDENTITY; DROP INDEX memory_events_by_sequence');
    await tamper(
      `UPDATE memory_events e SET sequence = other.sequence FROM memory_events other
       WHERE (e.id, other.id) IN (($1, $2), ($2, $1))`,
      [events[2], events[4]],
    );
    expect(brief(await problemsOf())).toEqual([
      ['reordered', 2, events[2]],
      ['reordered', 4, events[4]],
    ]);
  });

  it('is found when an event was put in', async () => {
    const row = rowOf('memory_events', 'default', { id: randomUUID() });
    await core.db.asOwner(async (client) => {
      await client.query('ALTER TABLE memory_events DISABLE TRIGGER USER');
      await insertRow(client, 'memory_events', row);
      await client.query('ALTER TABLE memory_events ENABLE TRIGGER USER');
    });
    await storeFact(context(), { subject: 'user', predicate: 'drink 6', content: 'tea' });
    expect(brief(await problemsOf())).toEqual([['inserted', null, row['id']]]);
  });

  it('is found when the whole chain is that of another tenant', async () => {
    await tamper(`UPDATE event_chain SET tenant_id = 'other'`);
    await tamper(`UPDATE memory_events SET tenant_id = 'other'`);
    expect(brief(await problemsOf(undefined, 'other'))).toEqual([['changed', 1, events[1]]]);
  });
});

/** Of a fact that superseded another: its link followed from it. */
async function causedEvent(): Promise<string> {
  await storeFact(context(), { subject: 'guest 1', predicate: 'drink', content: 'coffee' });
  const event = await core.db
    .forTenant('default')
    .client.memoryEvent.findFirstOrThrow({ where: { causeEventId: { not: null } } });
  return event.id;
}

describe('a head', () => {
  it('is read as it was written', () => {
    const head = { position: 12n, hash: 'ab'.repeat(32) };
    expect(readHead('since', ` ${writeHead(head)} `)).toEqual(head);
  });

  it.each(['', '12', '12:ab', `0:${'ab'.repeat(32)}`, `-1:${'ab'.repeat(32)}`, `1:${'xy'.repeat(32)}`])(
    'is not read from %j',
    (text) => {
      expect(() => readHead('since', text)).toThrow(/^since must be a head as it was printed: .* \(got/);
    },
  );
});
