import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sweepLeftovers } from '../../src/lifecycle/housekeeping.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { insertRow, rowOf, type Row } from '../support/rows.ts';
import { newScene, type Scene } from './support.ts';
import { storeEpisode } from '../support/writes.ts';

let core: TestCore;
let scene: Scene;

beforeAll(async () => {
  core = await createTestCore();
});
beforeEach(() => {
  scene = newScene(core);
});
afterAll(() => core.close());

async function insert(table: string, columns: Row, tenantId = scene.tenantId): Promise<void> {
  await core.db.asOwner((client) => insertRow(client, table, rowOf(table, tenantId, columns)));
}

const none = { receipts: 0, idempotencyKeys: 0, jobRuns: 0, accessRecords: 0, consolidationRuns: 0 };

const earlier = (days: number): Date => new Date(core.day(-days).getTime() - 1);

it('receipts go when they have expired, and no other tenant loses any', async () => {
  await insert('context_receipts', { expires_at: core.start });
  await insert('context_receipts', { expires_at: new Date(core.start.getTime() + 1) });
  await insert('context_receipts', { expires_at: core.start }, 'another');

  expect(await scene.sweepOnce(sweepLeftovers)).toEqual({ ...none, receipts: 1 });
  expect(await scene.client.contextReceipt.count()).toBe(1);
  expect(await core.db.forTenant('another').client.contextReceipt.count()).toBe(1);
});

it('an idempotency key is known for its days, and is a new write after them', async () => {
  const input = { content: 'had lunch', butler: 'alfred', idempotencyKey: 'lunch' };
  const first = await storeEpisode(scene.context(), input);
  core.clock.now = new Date(core.day(30).getTime() - 1);
  expect(await scene.sweepOnce(sweepLeftovers)).toMatchObject({ idempotencyKeys: 0 });
  core.clock.now = core.day(30);
  expect(await scene.sweepOnce(sweepLeftovers)).toMatchObject({ idempotencyKeys: 1 });
  expect((await storeEpisode(scene.context(), input)).id).not.toBe(first.id);
});

it('job runs go thirty days after they ended, or after the last sign of those that never did', async () => {
  const run = { job: 'decay-sweep', started_by: 'schedule', actor: 'job:decay-sweep', request_id: 'test' };
  const old = earlier(30);
  const young = earlier(29);
  const times = (at: Date): Row => ({ started_at: at, last_sign_at: at });
  await insert('job_runs', { ...run, ...times(old), status: 'succeeded', finished_at: old });
  await insert('job_runs', { ...run, ...times(old), status: 'failed', finished_at: young });
  await insert('job_runs', { ...run, ...times(old), status: 'running' });
  await insert('job_runs', { ...run, ...times(young), status: 'running' });

  expect(await scene.sweepOnce(sweepLeftovers)).toEqual({ ...none, jobRuns: 2 });
});

it('access records go after the days that are configured', async () => {
  const { accessRetentionDays } = scene.context().config.auth;
  await insert('access_records', { accessed_at: earlier(accessRetentionDays) });
  await insert('access_records', { accessed_at: earlier(accessRetentionDays - 1) });

  expect(await scene.sweepOnce(sweepLeftovers)).toMatchObject({ accessRecords: 1 });
  expect(await scene.client.accessRecord.count()).toBe(1);
});

it('tells how far it is, out of all that there is to remove', async () => {
  await insert('context_receipts', { expires_at: core.start });
  await insert('context_receipts', { expires_at: core.start });
  const ended = { started_at: earlier(30), last_sign_at: earlier(30), finished_at: earlier(30) };
  await insert('job_runs', { ...ended, status: 'succeeded' });
  const told: [number, number | null][] = [];
  const progress = (done: number, total: number | null): void => void told.push([done, total]);

  expect(await sweepLeftovers(scene.context(), { dryRun: false, progress })).toMatchObject({ receipts: 2, jobRuns: 1 });
  expect(told.every(([, total]) => total === 3)).toBe(true);
  expect(told.map(([done]) => done)).toEqual([2, 2, 3, 3]);
});
