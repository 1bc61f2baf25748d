import { v7 as uuidv7 } from 'uuid';
import { describeError } from '../shared/describe-error.ts';
import type { JobRun, Prisma } from '../generated/prisma/client.ts';
import { nameActor, type MemoryContext } from '../memory/context.ts';
import { authorize } from '../memory/permissions.ts';
import { checkUuid } from '../memory/values.ts';
import { createRedactor } from '../redaction/redactor.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

export type { JobRun };

/** A sweep of one tenant by the name of its job. */
export interface TenantSweep {
  readonly name: string;
  readonly sweep: (context: MemoryContext, options: SweepOptions) => Promise<SweepReport>;
}

export interface RunOptions extends SweepOptions {
  readonly startedBy: 'schedule' | 'person';
}

/** Runs jobs by name. Implemented in jobs/, which the doors must not import. */
export interface JobRunner {
  readonly names: readonly string[];
  /** Returns the run when it has ended, or as it is when it takes long. */
  run(context: MemoryContext, given: { name: string; dryRun: boolean }): Promise<JobRun>;
  /** The last run of a job of the whole server, for who may run one: no tenant keeps it, as it tells of the others. */
  findServerRun(context: MemoryContext, id: string): JobRun | null;
  stop(): Promise<void>;
}

/** How often a run records its progress and that it is alive. */
const signIntervalMs = 30_000;

/** A run without a sign for this long counts as lost. */
const silenceLimitMs = 4 * signIntervalMs;

export const jobRunStatuses = ['running', 'succeeded', 'failed', 'lost'] as const;
export type JobRunStatus = (typeof jobRunStatuses)[number];

export function findRunStatus(run: Pick<JobRun, 'status' | 'lastSignAt'>, now: Date): JobRunStatus {
  const isSilent = now.getTime() - run.lastSignAt.getTime() > silenceLimitMs;
  return run.status === 'running' && isSilent ? 'lost' : (run.status as JobRunStatus);
}

export async function listJobRuns(
  context: MemoryContext,
  job: string | undefined,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ runs: JobRun[]; total: number }> {
  authorize(context, 'query jobRuns');
  const { db, principal } = context;
  const { tenantId } = principal;
  const where = { tenantId, ...(job !== undefined && { job }) };
  const { jobRun } = db.client;
  const newestFirst = [{ startedAt: 'desc' as const }, { id: 'desc' as const }];
  const [runs, total] = await Promise.all([
    jobRun.findMany({ where, orderBy: newestFirst, skip: offset, take: limit }),
    jobRun.count({ where }),
  ]);
  return { runs, total };
}

export async function findJobRun(context: MemoryContext, given: string): Promise<JobRun | null> {
  authorize(context, 'query jobRun');
  const { db, principal } = context;
  const { tenantId } = principal;
  const id = checkUuid('id', given);
  return db.client.jobRun.findUnique({ where: { tenantId_id: { tenantId, id } } });
}

export interface StartedRun {
  readonly run: JobRun;
  readonly ended: Promise<JobRun>;
}

/** Does the sweep and records the run. A failure is not thrown: the run has the status failed. */
export async function recordRun(context: MemoryContext, job: TenantSweep, options: RunOptions): Promise<JobRun> {
  const { ended } = await startRun(context, job, options);
  return ended;
}

/** Records the start of a run, and returns it before the sweep has ended. */
export async function startRun(context: MemoryContext, job: TenantSweep, options: RunOptions): Promise<StartedRun> {
  // A dry run is not recorded.
  if (options.dryRun) return startUnkeptRun(context, job, options);
  const run = begin(context, job, options);
  await context.db.client.jobRun.create({ data: { ...run, report: {} } });
  return { run, ended: finish(context, job, options, run) };
}

/** Starts a run that is not recorded. */
export function startUnkeptRun(context: MemoryContext, job: TenantSweep, options: RunOptions): StartedRun {
  const run = begin(context, job, options);
  return { run, ended: attempt(context, job, options).then((outcome) => ({ ...run, ...outcome })) };
}

async function finish(
  context: MemoryContext,
  job: TenantSweep,
  options: RunOptions,
  { tenantId, id }: JobRun,
): Promise<JobRun> {
  const runs = context.db.client.jobRun;
  const where = { tenantId_id: { tenantId, id } };
  const sign = keepSigns(context, (data) => runs.update({ where, data }));
  try {
    const outcome = await attempt(context, job, { ...options, progress: sign.progress(options.progress) });
    return await runs.update({ where, data: { ...outcome, report: outcome.report ?? {} } });
  } finally {
    sign.stop();
  }
}

function begin(context: MemoryContext, { name }: TenantSweep, { startedBy }: RunOptions): JobRun {
  const startedAt = context.now();
  return {
    tenantId: context.principal.tenantId,
    id: uuidv7(),
    job: name,
    startedBy,
    actor: nameActor(context),
    requestId: context.requestContext.requestId,
    status: 'running',
    startedAt,
    lastSignAt: startedAt,
    finishedAt: null,
    done: 0,
    total: null,
    report: {},
    error: null,
  };
}

type Outcome = Pick<JobRun, 'status' | 'finishedAt' | 'error'> & { report?: SweepReport };

async function attempt(context: MemoryContext, job: TenantSweep, options: SweepOptions): Promise<Outcome> {
  try {
    const report = await job.sweep({ ...context, actor: `job:${job.name}` }, options);
    return { status: 'succeeded', finishedAt: context.now(), error: null, report };
  } catch (error) {
    const { message } = describeError(error, context.logger);
    return { status: 'failed', finishedAt: context.now(), error: createRedactor(context).mask(message) };
  }
}

interface Signs {
  progress(told: SweepOptions['progress']): NonNullable<SweepOptions['progress']>;
  stop(): void;
}

/** Records the progress of a run at every interval, and that its process is alive. */
function keepSigns(context: MemoryContext, write: (data: Prisma.JobRunUpdateInput) => Promise<unknown>): Signs {
  let reached: { done: number; total: number | null } = { done: 0, total: null };
  const timer = setInterval(() => {
    write({ ...reached, lastSignAt: context.now() }).catch((error: unknown) =>
      context.logger.warn({ err: error }, 'could not record the progress of a job'),
    );
  }, signIntervalMs).unref();
  return {
    progress: (told) => (done, total) => {
      reached = { done, total };
      told?.(done, total);
    },
    stop: () => clearInterval(timer),
  };
}
