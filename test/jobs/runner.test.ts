import { afterAll, beforeAll, expect, it } from 'vitest';
import { v7 as uuidv7 } from 'uuid';
import { createJobRunner } from '../../jobs/runner.ts';
import type { Embedder } from '../../src/embedding/embedder.ts';
import { findJobRun, listJobRuns, recordRun } from '../../src/lifecycle/job-runs.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeEpisode } from '../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
  await storeEpisode(core.context(), { content: 'tea', butler: 'home' });
});
afterAll(() => core.close());

/** An operator whose model answers only when it is let. */
function withHeldModel(): { operator: MemoryContext; letGo: () => void } {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { embedder } = core;
  const slow: Embedder = {
    model: embedder.model,
    load: () => embedder.load(),
    status: () => embedder.status(),
    embed: (texts) => held.then(() => embedder.embed(texts)),
    embedQuery: (text) => embedder.embedQuery(text),
    findFor: (model) => embedder.findFor(model),
    close: () => embedder.close(),
  };
  return { operator: { ...core.context(), embedder: slow }, letGo: () => letGo() };
}

it('answers for a long run with that run, whichever began since', async () => {
  await core.db.asOwner((client) => client.query('UPDATE episodes SET embedding = NULL, embedding_version_id = NULL'));
  const { operator, letGo } = withHeldModel();
  const runner = createJobRunner(core, () => undefined, 0);
  const later = { name: 'reembed', sweep: async () => ({}) };
  const scheduled = await core.onDay(1, () =>
    recordRun(core.context(), later, { dryRun: false, startedBy: 'schedule' }),
  );

  const run = await runner.run(operator, { name: 'reembed', dryRun: false });

  expect(run.id).not.toBe(scheduled.id);
  expect(run).toMatchObject({ job: 'reembed', status: 'running', startedBy: 'person' });
  await expect(runner.run(operator, { name: 'reembed', dryRun: false })).rejects.toMatchObject({ code: 'CONFLICT' });
  letGo();
  await runner.stop();
  expect(await findJobRun(operator, run.id)).toMatchObject({ status: 'succeeded' });
});

it('keeps a run of the whole server in no tenant, and tells it to who may run one', async () => {
  const runner = createJobRunner(core, () => undefined);
  const [all, one] = [core.context({ servesAll: true }), core.context()];
  const run = await runner.run(all, { name: 'maintain-storage', dryRun: false });

  expect(run).toMatchObject({ job: 'maintain-storage', status: 'succeeded' });
  expect((await listJobRuns(all, 'maintain-storage', { offset: 0, limit: 5 })).total).toBe(0);
  expect(runner.findServerRun(all, run.id)).toEqual(run);
  expect(runner.findServerRun(one, run.id)).toBeNull();
  expect(runner.findServerRun(all, uuidv7())).toBeNull();
  await expect(runner.run(one, { name: 'maintain-storage', dryRun: true })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});
