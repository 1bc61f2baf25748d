import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requestGraphQL, type GraphQLAnswer } from '../support/graphql-request.ts';
import { storeEpisode } from '../support/writes.ts';

let testApp: TestApp;

beforeAll(async () => {
  testApp = await createTestApp();
  await installQueue(testApp.core.db);
  await storeEpisode(testApp.app.createContext().memory, { content: 'tea', butler: 'home' });
  testApp.clock.now = new Date('2026-03-03T12:00:00.000Z');
});
afterAll(() => testApp.close());

const ask = (query: string, variables: Record<string, unknown> = {}): Promise<GraphQLAnswer> =>
  requestGraphQL((request) => testApp.app.fetch(request), 'http://localhost', query, variables);

const runJob = (name: string, dryRun?: boolean): Promise<GraphQLAnswer> =>
  ask(
    `mutation ($input: RunJobInput!) {
      runJob(input: $input) {
        ... on RunJobPayload { run { uuid name status startedBy actor report { name count } error } }
        ... on Problem { code message }
      }
    }`,
    { input: { name, ...(dryRun !== undefined && { dryRun }) } },
  );
const runs = (): Promise<GraphQLAnswer> =>
  ask('{ jobRuns(first: 5) { totalCount edges { node { uuid name status } } } }');

describe('a job that an operator runs', () => {
  it('answers with the run, dry at first: it foretells, and leaves no trace', async () => {
    const { data } = await runJob('refresh-projections', true);
    expect(data).toMatchObject({
      runJob: { run: { status: 'succeeded', startedBy: 'person', report: [{ name: 'days', count: 1 }] } },
    });
    expect((await runs()).data).toEqual({ jobRuns: { totalCount: 0, edges: [] } });
  });

  it('does it, and is listed', async () => {
    const { data } = (await runJob('refresh-projections')) as {
      data: { runJob: { run: { uuid: string; report: unknown } } };
    };
    const { uuid, report } = data.runJob.run;
    expect(report).toEqual([{ name: 'days', count: 1 }]);
    const run = { uuid, name: 'refresh-projections', status: 'succeeded' };
    expect((await runs()).data).toEqual({ jobRuns: { totalCount: 1, edges: [{ node: run }] } });
    expect((await ask(`{ jobRun(id: "${uuid}") { uuid name status } }`)).data).toEqual({ jobRun: run });
    expect((await ask('{ activityByDay(from: "2026-03-01T00:00:00Z") { day counts { name count } } }')).data).toEqual({
      activityByDay: [
        {
          day: '2026-03-01',
          counts: [
            { name: 'embedding_version.registered', count: 1 },
            { name: 'episode.stored', count: 1 },
          ],
        },
      ],
    });
  });

  it('may concern the whole server', async () => {
    expect((await runJob('maintain-storage', true)).data).toMatchObject({
      runJob: { run: { name: 'maintain-storage', status: 'succeeded', report: [{ name: 'statements' }] } },
    });
  });

  it('must be there: the refusal says which are', async () => {
    const { data } = (await runJob('tidy')) as { data: { runJob: { code: string; message: string } } };
    expect(data.runJob.code).toBe('INVALID_INPUT');
    expect(data.runJob.message).toMatch(/^name must be one of .*decay-sweep.* \(got "tidy"\)$/);
  });
});

describe('schedules', () => {
  it('are listed with how they fare', async () => {
    const { data } = (await ask('{ schedules { name status nextAt } }')) as {
      data: { schedules: { name: string; status: string; nextAt: string }[] };
    };
    expect(data.schedules).toContainEqual({
      name: 'decay-sweep',
      status: 'waiting',
      nextAt: '2026-03-04T03:00:00.000Z',
    });
  });

  it('are not listed for a job that there is not, which is told instead', async () => {
    const { errors } = await ask('{ jobRuns(name: "sweep") { totalCount } }');

    expect(errors?.[0]?.message).toMatch(/^name must be one of consolidate, .*decay-sweep, .*got "sweep"\)$/);
  });
});
