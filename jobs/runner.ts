import { setTimeout as wait } from 'node:timers/promises';
import { invalidInput, MemoryError } from '../src/shared/errors.ts';
import {
  findJobRun,
  recordRun,
  startRun,
  startUnkeptRun,
  type JobRun,
  type JobRunner,
  type RunOptions,
  type StartedRun,
} from '../src/lifecycle/job-runs.ts';
import type { SweepOptions, SweepReport } from '../src/lifecycle/sweep.ts';
import { actorOf, type MemoryContext } from '../src/memory/context.ts';
import { authorize } from '../src/memory/permissions.ts';
import { contextOfTenant, type Job, type JobContext, type ServerJob, type ServerWork } from './job.ts';
import { jobs } from './jobs.ts';
import type { Queue } from './queue.ts';

/** Who asks by hand waits so long for the end; after that the run tells how far it is. */
const usualPatienceMs = 20_000;

/** Runs jobs in this process, apart from the queue: for people, who want to see what comes of it. */
export function createJobRunner(
  context: JobContext,
  queue: () => Queue | undefined,
  patienceMs = usualPatienceMs,
): JobRunner {
  const stopping = new AbortController();
  const underWay = new Map<string, Promise<JobRun>>();
  /** The last one of each job of the whole server. */
  const serverRuns = new Map<string, JobRun>();
  const start = (caller: MemoryContext, job: Job, options: RunOptions): Promise<StartedRun> | StartedRun => {
    if (job.for === 'tenant') return startRun(caller, job, options);
    const sweep = {
      name: job.name,
      sweep: () => runServerJob(job, context, queue(), { ...options, actor: actorOf(caller) }),
    };
    const started = startUnkeptRun(caller, sweep, options);
    if (!options.dryRun) keepLast(serverRuns, started);
    return started;
  };
  return {
    names: jobs.map(({ name }) => name),
    run: async (caller, { name, dryRun }) => {
      authorize(caller, 'mutation runJob');
      const job = findJob(name);
      if (job.for === 'server' && caller.principal.servesAll !== true) throw concernsAll(name);
      const key = job.for === 'server' ? name : `${caller.principal.tenantId}/${name}`;
      if (underWay.has(key)) throw isUnderWay(name);
      const starting = Promise.resolve(start(caller, job, { dryRun, startedBy: 'person', signal: stopping.signal }));
      const ended = starting.then((started) => started.ended);
      underWay.set(key, ended);
      const forget = (): boolean => underWay.delete(key);
      ended.then(forget, forget);
      if (dryRun) return ended;
      const { run } = await starting;
      const first = await firstOf(ended, patienceMs);
      return first ?? (await findJobRun(caller, run.id)) ?? run;
    },
    findServerRun: (caller, id) => {
      const run = [...serverRuns.values()].find((known) => known.id === id);
      if (run === undefined || caller.principal.servesAll !== true) return null;
      // It is in this process, so it lives as long as it runs.
      return run.status === 'running' ? { ...run, lastSignAt: caller.now() } : run;
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(underWay.values());
    },
  };
}

function keepLast(runs: Map<string, JobRun>, { run, ended }: StartedRun): void {
  runs.set(run.job, run);
  void ended.then((done) => runs.get(run.job)?.id === run.id && runs.set(run.job, done));
}

export function findJob(name: string): Job {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job !== undefined) return job;
  throw invalidInput('name', `one of ${jobs.map((candidate) => candidate.name).join(', ')}`, name);
}

/**
 * A job of the whole server. What it asks for goes to the queue; without one nobody would do it later, so it is done here
 * and now. What failed in one tenant is told when all others had their turn.
 */
export async function runServerJob(
  job: ServerJob,
  context: JobContext,
  queue: Queue | undefined,
  options: SweepOptions & { actor: string },
): Promise<SweepReport> {
  const failures: string[] = [];
  const doHere: ServerWork['request'] = async (name, tenantId) => {
    const { status, error } = await runForTenant(findJob(name), context, tenantId, options);
    if (status === 'failed') failures.push(`${name} of ${tenantId}: ${error}`);
  };
  const request: ServerWork['request'] = async (name, tenantId) =>
    queue === undefined ? doHere(name, tenantId) : queue.request(name, tenantId);
  const report = await job.run(context, { ...options, request });
  if (failures.length === 0) return report;
  throw new MemoryError('CONFLICT', `${failures.length} of ${job.name} failed: ${failures.join('; ')}`);
}

async function runForTenant(
  job: Job,
  context: JobContext,
  tenantId: string,
  { signal, actor }: SweepOptions & { actor: string },
): Promise<JobRun> {
  if (job.for === 'server') throw invalidInput('name', 'a job that is done for each tenant apart', job.name);
  return recordRun({ ...contextOfTenant(context, tenantId), actor }, job, {
    dryRun: false,
    startedBy: 'person',
    signal,
  });
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

/** Null when it takes longer than that. */
async function firstOf(ended: Promise<JobRun>, patienceMs: number): Promise<JobRun | null> {
  const over = new AbortController();
  const long = wait(patienceMs, null, { signal: over.signal, ref: false });
  return Promise.race([ended, long]).finally(() => over.abort());
}
