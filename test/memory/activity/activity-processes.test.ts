import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/http/app.ts';
import { createMemory, type MemoryCore } from '../../../src/create-memory.ts';
import { createLogger } from '../../../src/shared/logger.ts';
import { createActivityFeed, type ActivityFeed } from '../../../src/memory/activity/activity-feed.ts';
import type { EventRow } from '../../../src/memory/activity/activity.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { contextOf, take, writeEvent } from '../../support/activity.ts';
import { testConfig } from '../../support/config.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../../support/database.ts';

const hourMs = 3_600_000;
const asIds = { prepare: (events: EventRow[]) => events.map(({ id }) => id) };

/** Two servers on one database, as two processes have them: nothing but the database connects them. */
describe.runIf(testEngine === 'postgres')('a feed beside another process', () => {
  let scratch: TestDatabase;
  let reader: MemoryCore;
  let writer: MemoryCore;
  let readers: MemoryContext;
  let writers: MemoryContext;
  let feed: ActivityFeed | undefined;

  beforeEach(async () => {
    scratch = await createTestDatabase();
    const config = testConfig({ DATABASE_URL: scratch.options.url ?? '' });
    const open = (): Promise<MemoryCore> => createMemory({ config, logger: createLogger(config) });
    [reader, writer] = [await open(), await open()];
    readers = contextOf({ app: createApp(reader) });
    writers = contextOf({ app: createApp(writer) });
  });

  afterEach(async () => {
    feed?.close();
    await reader.close();
    await writer.close();
    await scratch.drop();
  });

  /** Looks into the table by itself so seldom that a test only passes if it is told. */
  const openFeed = (pollIntervalMs = hourMs): ActivityFeed =>
    (feed = createActivityFeed({ logger: reader.logger, pollIntervalMs }));

  const listeners = async (): Promise<number[]> => {
    const { rows } = await scratch.database.asOwner((client) =>
      client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
           AND application_name = 'butler-memory events' AND query LIKE 'LISTEN %' AND state = 'idle'`,
      ),
    );
    return rows.map(({ pid }) => pid);
  };
  const untilListening = async (isExpected: (pids: number[]) => boolean): Promise<number[]> => {
    let pids = await listeners();
    while (!isExpected(pids)) pids = await listeners();
    return pids;
  };

  it('is told of what the other writes', async () => {
    const follower = await openFeed().follow(readers, asIds);
    await untilListening((pids) => pids.length === 1);
    const ids = [await writeEvent(writers), await writeEvent(writers)];

    expect(await take(follower, 2)).toEqual(ids);
  });

  it('listens again after its connection was lost, and misses nothing that was written meanwhile', async () => {
    const follower = await openFeed().follow(readers, asIds);
    const [pid] = await untilListening((pids) => pids.length === 1);
    const { rows } = await scratch.database.asOwner((client) => client.query('SELECT pg_terminate_backend($1)', [pid]));
    const meanwhile = await writeEvent(writers);
    await untilListening((pids) => pids.length === 1 && pids[0] !== pid);
    const later = await writeEvent(writers);

    expect(rows).toHaveLength(1);
    expect(await take(follower, 2)).toEqual([meanwhile, later]);
  });

  it('finds what nobody told it of, by looking now and then', async () => {
    const deaf = { ...readers.db, database: { ...reader.db, events: { subscribe: () => () => undefined } } };
    feed = createActivityFeed({ logger: reader.logger, pollIntervalMs: 20 });
    const follower = await feed.follow({ ...readers, db: deaf }, asIds);
    const id = await writeEvent(writers);

    expect(await take(follower, 1)).toEqual([id]);
  });

  it('needs no connection of its own before someone follows', async () => {
    await writeEvent(writers);

    expect(await listeners()).toEqual([]);
  });
});
