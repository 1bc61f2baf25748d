import { setTimeout as wait } from 'node:timers/promises';
import { invalidInput, MemoryError } from '../src/errors.ts';
import { recordRun, type JobRun, type JobRunner, type TenantSweep } from '../src/lifecycle/job-runs.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import type { Job, JobContext } from './job.ts';
import { jobs } from './jobs.ts';
import type { Queue } from './queue.ts';

/** Who asks by hand waits so long for the end; after that the run tells how far it is. */
const answerAfterMs = 20_000;

/** Runs jobs in this process, apart from the queue: for people, who want to see what comes of it. */
export function createJobRunner(context: JobContext, queue: () => Queue | undefined): JobRunner {
  const stopping = new AbortController();
  const underWay = new Map<string, Promise<JobRun>>();
  return {
    names: jobs.map(({ name }) => name),
    run: async (caller, { name, dryRun }) => {
      const job = findJob(name);
      if (job.for === 'server' && caller.principal.servesAll !== true) throw concernsAll(name);
      const key = `${caller.principal.tenantId}/${name}`;
      if (underWay.has(key)) throw isUnderWay(name);
      const sweep = asSweep(job, context, queue);
      const ended = recordRun(caller, sweep, { dryRun, startedBy: 'person', signal: stopping.signal });
      underWay.set(key, ended);
      const forget = (): boolean => underWay.delete(key);
      ended.then(forget, forget);
      return dryRun ? ended : firstOf(ended, caller, name);
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(underWay.values());
    },
  };
}

export function findJob(name: string): Job {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job !== undefined) return job;
  throw invalidInput('name', `one of ${jobs.map((candidate) => candidate.name).join(', ')}`, name);
}

/** A job of the whole server, as the caller's tenant sees it. */
export function asSweep(job: Job, context: JobContext, queue: () => Queue | undefined): TenantSweep {
  if (job.for === 'tenant') return job;
  const request = async (name: string, tenantId: string): Promise<void> => {
    await queue()?.request(name, tenantId);
  };
  return { name: job.name, sweep: (_caller, options) => job.run(context, { ...options, request }) };
}

/** An operator runs one tenant; the others are not its to work on. */
function concernsAll(name: string): MemoryError {
  return new MemoryError(
    'FORBIDDEN',
    `${name} is done for all tenants: a grant to write in all is needed; given none`,
    {
      hint: `Its schedule does it, and so does whoever runs the server: butler-memory job ${name}.`,
    },
  );
}

function isUnderWay(name: string): MemoryError {
  return new MemoryError('CONFLICT', `${name} is under way already`, { hint: 'jobRuns shows how far it is.' });
}

async function firstOf(ended: Promise<JobRun>, { db, principal }: MemoryContext, job: string): Promise<JobRun> {
  const over = new AbortController();
  const long = wait(answerAfterMs, undefined, { signal: over.signal, ref: false }).then(() => undefined);
  const run = await Promise.race([ended, long]).finally(() => over.abort());
  if (run !== undefined) return run;
  const { tenantId } = principal;
  return db.tenant(tenantId).jobRun.findFirstOrThrow({ where: { tenantId, job }, orderBy: { startedAt: 'desc' } });
}
