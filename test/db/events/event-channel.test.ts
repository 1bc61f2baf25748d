import type { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { PostgresEventChannel } from '../../../src/db/events/event-channel.ts';
import { EventHub } from '../../../src/db/events/event-signal.ts';

/** In place of the database: what is sent to it. */
function recordSent(): { pool: Pool; sent: string[][] } {
  const sent: string[][] = [];
  const query = async (_text: string, [, payloads]: [string, string[]]): Promise<void> => {
    sent.push(payloads.map((payload) => payload.replace(/^[0-9a-f]+ /, '')));
  };
  return { pool: { query } as unknown as Pool, sent };
}

describe('the word to other processes', () => {
  it('is sent at once, and then once for all that commit in the meantime', async () => {
    const { pool, sent } = recordSent();
    const channel = new PostgresEventChannel(pool, {});
    for (const tenantId of ['ada', 'ada', 'bob', 'ada', 'bob']) channel.send(tenantId);
    await channel.close();

    expect(sent).toEqual([['ada'], ['ada', 'bob']]);
  });

  it('is not worth the failure of anything when it cannot be sent', async () => {
    const pool = { query: () => Promise.reject(new Error('no connection')) } as unknown as Pool;
    const channel = new PostgresEventChannel(pool, {});
    channel.send('ada');

    await expect(channel.close()).resolves.toBeUndefined();
  });
});

describe('the signal within a process', () => {
  it('wakes those of the tenant and no others, until they have left', async () => {
    const hub = new EventHub(undefined);
    const woken: string[] = [];
    const leave = hub.subscribe('ada', () => woken.push('ada'));
    hub.subscribe('bob', () => woken.push('bob'));
    hub.raise('ada');
    hub.raise('nobody');
    leave();
    hub.raise('ada');
    await hub.close();
    hub.raise('bob');

    expect(woken).toEqual(['ada']);
  });

  it('wakes everyone when the channel may have missed something', () => {
    let hear: (tenantId: string | undefined) => void = () => undefined;
    const channel = {
      send: () => undefined,
      listen: (given: typeof hear) => (hear = given),
      close: async () => undefined,
    };
    const hub = new EventHub(channel);
    const woken: string[] = [];
    for (const tenantId of ['ada', 'bob']) hub.subscribe(tenantId, () => woken.push(tenantId));
    hear(undefined);
    hear('bob');

    expect(woken).toEqual(['ada', 'bob', 'bob']);
  });
});
