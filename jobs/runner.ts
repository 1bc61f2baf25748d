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
import { nameActor, createTenantContext, type MemoryContext, type ServerContext } from '../src/memory/context.ts';
import { authorize } from '../src/memory/permissions.ts';
import { getJob, jobs, type Job, type ServerJob, type ServerSweepOptions } from './jobs.ts';
import type { Queue } from './queue.ts';

/** A caller waits this long for the end of a run, and then gets the run as it is. */
const defaultPatienceMs = 20_000;

/** Runs jobs in this process, outside the queue, for callers who want the result. */
export function createJobRunner(
  context: ServerContext,
  queue: () => Queue | undefined,
  patienceMs = defaultPatienceMs,
): JobRunner {
  const stopping = new AbortController();
  const underWay = new Map<string, Promise<JobRun>>();
  /** The latest run of each server job. */
  const serverRuns = new Map<string, JobRun>();
  const start = (caller: MemoryContext, job: Job, options: RunOptions): Promise<StartedRun> | StartedRun => {
    if (job.for === 'tenant') return startRun(caller, job, options);
    const sweep = {
      name: job.name,
      sweep: () => runServerJob(job, context, queue(), { ...options, actor: nameActor(caller) }),
    };
    const started = startUnkeptRun(caller, sweep, options);
    if (!options.dryRun) keepLast(serverRuns, started);
    return started;
  };
  return {
    names: jobs.map(({ name }) => name),
    run: async (caller, { name, dryRun }) => {
      authorize(caller, 'mutation runJob');
      const job = getJob(name);
      if (job.for === 'server' && caller.principal.servesAll !== true) throw requiresGrant(name);
      const key = job.for === 'server' ? name : `${caller.principal.tenantId}/${name}`;
      if (underWay.has(key)) throw alreadyRunning(name);
      const starting = Promise.resolve(start(caller, job, { dryRun, startedBy: 'person', signal: stopping.signal }));
      const ended = starting.then((started) => started.ended);
      underWay.set(key, ended);
      const forget = (): boolean => underWay.delete(key);
      ended.then(forget, forget);
      if (dryRun) return ended;
      const { run } = await starting;
      const inTime = await waitAtMost(patienceMs, ended);
      return inTime ?? (await findJobRun(caller, run.id)) ?? run;
    },
    findServerRun: (caller, id) => {
      const run = [...serverRuns.values()].find((known) => known.id === id);
      if (run === undefined || caller.principal.servesAll !== true) return null;
      // The run is in this process, so it is alive while its status is running.
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

/**
 * Runs a server job. The tenant jobs that it requests go to the queue or, without one, run here at once. A failure in one
 * tenant is thrown after all others had their turn.
 */
export async function runServerJob(
  job: ServerJob,
  context: ServerContext,
  queue: Queue | undefined,
  options: SweepOptions & { actor: string },
): Promise<SweepReport> {
  const failures: string[] = [];
  const runHere: ServerSweepOptions['request'] = async (name, tenantId) => {
    const { status, error } = await runForTenant(getJob(name), context, tenantId, options);
    if (status === 'failed') failures.push(`${name} of ${tenantId}: ${error}`);
  };
  const request: ServerSweepOptions['request'] = async (name, tenantId) =>
    queue === undefined ? runHere(name, tenantId) : queue.request(name, tenantId);
  const report = await job.sweep(context, { ...options, request });
  if (failures.length === 0) return report;
  throw new MemoryError('CONFLICT', `${failures.length} of ${job.name} failed: ${failures.join('; ')}`);
}

async function runForTenant(
  job: Job,
  context: ServerContext,
  tenantId: string,
  { signal, actor }: SweepOptions & { actor: string },
): Promise<JobRun> {
  if (job.for === 'server') throw invalidInput('name', 'a job that is done for each tenant apart', job.name);
  return recordRun({ ...createTenantContext(context, tenantId), actor }, job, {
    dryRun: false,
    startedBy: 'person',
    signal,
  });
}

/** A server job touches every tenant, and an operator may work on one only. */
function requiresGrant(name: string): MemoryError {
  return new MemoryError(
    'FORBIDDEN',
    `${name} runs for all tenants at once: the grant must be one to write in all (got none)`,
    {
      hint: `Its schedule runs it, or the operator of the server: butler-memory job ${name}.`,
    },
  );
}

function alreadyRunning(name: string): MemoryError {
  return new MemoryError('CONFLICT', `${name} is under way already`, { hint: 'jobRuns shows how far it is.' });
}

/** Returns null when the run takes longer than that. */
async function waitAtMost(patienceMs: number, ended: Promise<JobRun>): Promise<JobRun | null> {
  const over = new AbortController();
  const timeout = wait(patienceMs, null, { signal: over.signal, ref: false });
  return Promise.race([ended, timeout]).finally(() => over.abort());
}
