import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findJobRun, listJobRuns, recordRun, findRunStatus, type TenantSweep } from '../../src/lifecycle/job-runs.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeFact } from '../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const storing: TenantSweep = {
  name: 'storing',
  sweep: async (context, { progress }) => {
    progress?.(1, 2);
    await storeFact(context, { subject: 'user', predicate: 'likes', content: 'tea' });
    return { stored: 1 };
  },
};
const breaking: TenantSweep = { name: 'breaking', sweep: () => Promise.reject(new Error('secret of the house')) };
const byHand = { dryRun: false, startedBy: 'person' } as const;

describe('a run of a job', () => {
  it('is kept with what it did, who started it and on which request', async () => {
    const context = core.context();
    const run = await recordRun(context, storing, byHand);

    expect(run).toMatchObject({
      job: 'storing',
      status: 'succeeded',
      startedBy: 'person',
      actor: 'operator',
      requestId: context.requestContext.requestId,
      report: { stored: 1 },
      error: null,
      startedAt: core.clock.now,
      finishedAt: core.clock.now,
    });
    expect(await findJobRun(context, run.id)).toEqual(run);
    expect(await listJobRuns(context, 'storing', { offset: 0, limit: 5 })).toEqual({ runs: [run], total: 1 });
  });

  it('is the actor of the events of what it did', async () => {
    const event = await core.db
      .forTenant('default')
      .client.memoryEvent.findFirstOrThrow({ where: { eventType: 'fact.stored' } });
    expect(event.actor).toBe('job:storing');
  });

  it('that fails says so, and nothing that is for the log alone', async () => {
    const run = await recordRun(core.context(), breaking, byHand);
    expect(run).toMatchObject({ status: 'failed', report: {} });
    expect(run.error).toMatch(/^unexpected error; the log has it under [\w-]+$/);
  });

  it('leaves no trace when it is dry', async () => {
    const run = await recordRun(
      core.context(),
      { name: 'dry', sweep: async () => ({ fading: 3 }) },
      { ...byHand, dryRun: true },
    );
    expect(run).toMatchObject({ status: 'succeeded', report: { fading: 3 } });
    expect(await findJobRun(core.context(), run.id)).toBeNull();
  });

  it('is not seen by another tenant', async () => {
    const { id } = await recordRun(core.context(), storing, byHand);
    const other = core.context({ tenantId: 'other' });
    expect(await findJobRun(other, id)).toBeNull();
    expect(await listJobRuns(other, undefined, { offset: 0, limit: 5 })).toEqual({ runs: [], total: 0 });
  });

  it('is lost when its process has said nothing for minutes', () => {
    const running = { status: 'running', lastSignAt: core.day(0) };
    expect(findRunStatus(running, new Date(core.day(0).getTime() + 60_000))).toBe('running');
    expect(findRunStatus(running, core.day(0.1))).toBe('lost');
    expect(findRunStatus({ ...running, status: 'failed' }, core.day(0.1))).toBe('failed');
  });
});
