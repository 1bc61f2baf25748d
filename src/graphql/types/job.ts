import {
  findJobRun,
  listJobRuns,
  findRunStatus,
  type JobRun,
  type JobRunStatus,
  type RunOptions,
} from '../../lifecycle/job-runs.ts';
import type { SweepReport } from '../../lifecycle/sweep.ts';
import { createReport } from '../../memory/mutation.ts';
import { checkOneOf } from '../../memory/values.ts';
import { builder } from '../builder.ts';
import { readPage, totalCount } from '../pages.ts';
import { writeResult } from '../results.ts';
import { CountRef } from './stats.ts';

const JobRunStatusEnum = builder.enumType('JobRunStatus', {
  description: 'Status of a job run.',
  values: {
    running: { description: 'Under way.' },
    succeeded: { description: 'Done.' },
    failed: { description: 'Failed with the error it names. What it did before stays done.' },
    lost: { description: 'Lost: its process stopped reporting. What it did before stays done.' },
  } satisfies Record<JobRunStatus, object>,
});

const JobStarterEnum = builder.enumType('JobStarter', {
  description: 'What starts a job.',
  values: {
    schedule: { description: 'Its schedule.' },
    person: { description: 'A person or client, by request.' },
  } satisfies Record<RunOptions['startedBy'], object>,
});

const JobRunRef = builder.objectRef<JobRun>('JobRun').implement({
  description: 'One run of a job in this tenant.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The run.' }),
    name: t.exposeString('job', { description: 'The job.' }),
    status: t.field({
      type: JobRunStatusEnum,
      description: 'Status of the run.',
      resolve: (run, _args, { memory }) => findRunStatus(run, memory.now()),
    }),
    startedBy: t.field({
      type: JobStarterEnum,
      description: 'What started the run.',
      resolve: ({ startedBy }) => startedBy as RunOptions['startedBy'],
    }),
    actor: t.exposeString('actor', { description: 'The actor that started it.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    done: t.exposeInt('done', { description: 'Amount of work done at the last progress report.' }),
    total: t.exposeInt('total', { nullable: true, description: 'Total amount of work; null if unknown.' }),
    report: t.field({
      type: [CountRef],
      description: 'What it did, in numbers; of a dry run, what it would do.',
      resolve: ({ report }) => Object.entries(report as SweepReport).map(([name, count]) => ({ name, count })),
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
  }),
});

builder.queryField('jobRuns', (t) =>
  t.connection(
    {
      type: JobRunRef,
      description: 'Runs of jobs in this tenant, newest first.',
      args: { name: t.arg.string({ description: 'Only of this job.' }) },
      resolve: (_root, { name, ...args }, { memory, jobs }) =>
        readPage('jobRuns', args, async (page) => {
          const job = name == null ? undefined : checkOneOf('name', name, jobs.names);
          const { runs, total } = await listJobRuns(memory, job, page);
          return { items: runs, total };
        }) as never,
    },
    totalCount('JobRunConnection', 'A page of runs.'),
    { name: 'JobRunEdge', description: 'A run, and its place.' },
  ),
);

builder.queryField('jobRun', (t) =>
  t.field({
    type: JobRunRef,
    nullable: true,
    description:
      'One run of a job in this tenant, or of the whole server for who may run that; null when it is not there.',
    args: { id: t.arg.string({ required: true, description: 'UUID of the run.' }) },
    resolve: async (_root, { id }, { memory, jobs }) =>
      (await findJobRun(memory, id)) ?? jobs.findServerRun(memory, id),
  }),
);

const RunJobInput = builder.inputType('RunJobInput', {
  description: 'Which job to run now.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The job, by its name: decay-sweep, for example.' }),
    dryRun: t.boolean({ defaultValue: false, description: 'Counts what it would do, and changes nothing.' }),
  }),
});

const ranJob = writeResult('RunJob', {
  field: 'run',
  type: JobRunRef,
  description:
    'The run: ended, or under way still if it takes more than some seconds. A dry run is not kept, and one of the whole server for as long as the process lives.',
});

builder.mutationField('runJob', (t) =>
  t.field({
    type: ranJob.type,
    description: 'Runs a job in this tenant now, whatever its schedule says. It does no harm to run one too often.',
    args: { input: t.arg({ type: RunJobInput, required: true, description: 'The job.' }) },
    resolve: (_root, { input }, { memory, jobs }) =>
      ranJob.answer(memory, async (context) => {
        const value = await jobs.run(context, { name: input.name, dryRun: input.dryRun ?? false });
        return { ...createReport(), value };
      }),
  }),
);
