import { CronExpressionParser, type CronExpression } from 'cron-parser';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { listFailingJobs, listLastRuns, type ScheduledRun } from '../db/queries/scheduled-runs.ts';
import type { MemoryContext } from '../memory/context.ts';
import { authorize } from '../memory/permissions.ts';
import { toSnakeCase } from '../shared/names.ts';

export const scheduleStatuses = ['ok', 'waiting', 'missed', 'failing', 'disabled'] as const;
export type ScheduleStatus = (typeof scheduleStatuses)[number];

export interface Schedule {
  /** Its entry in [butler.schedule]. */
  entry: string;
  /** Name of the job that it starts. */
  name: string;
  cron: string;
  enabled: boolean;
  description: string;
  status: ScheduleStatus;
  /** State of the last run in the queue; null before the first. */
  state: string | null;
  startedAt: Date | null;
  completedAt: Date | null;
  /** Null when it is disabled. */
  nextAt: Date | null;
}

/** What each job does, by its entry. */
export const jobDescriptions: Record<keyof Config['schedule'], string> = {
  consolidate: 'Run memory consolidation',
  decaySweep: 'Run confidence decay sweep and flag fading memories',
  episodeCleanup: 'Expire old episodes and enforce capacity limits',
  consolidateBacklog: 'Consolidate at once where many episodes wait',
  promote: 'Promote memories that are often referenced',
  evict: 'Keep each generation within its capacity',
  reembed: 'Bring memories to the configured embedding model',
  refreshProjections: 'Count the events of the days that are over',
  purgeReceipts: 'Remove receipts, idempotency keys and job runs past their time',
  maintainStorage: 'Checkpoint, vacuum and analyze the embedded database',
  rotateKeys: 'Seal facts under new data keys, and those keys under the present master key',
};

/** A run that waits longer than this for a worker counts as missed. */
const toleranceMs = 15 * 60_000;

/** Reads the status of every entry of [butler.schedule], in one tenant or in all. Rejects when the queue cannot be read. */
export async function readSchedules(
  context: { db: Pick<Database, 'queueQuery'>; config: Config; now: () => Date },
  tenantId: string | null,
): Promise<Schedule[]> {
  const runs = await listLastRuns(context.db);
  const failing = await listFailingJobs(context.db, tenantId);
  const entries = Object.entries(context.config.schedule) as [keyof Config['schedule'], ScheduleEntry][];
  return entries.map(([key, { cron, enabled }]) => {
    const entry = toSnakeCase(key);
    const name = toJobName(entry);
    const description = jobDescriptions[key];
    const run = runs.find((candidate) => candidate.name === name);
    const { state = null, startedAt = null, completedAt = null } = run ?? {};
    // A cron expression is an iterator: each use needs its own.
    const fromNow = (): CronExpression => CronExpressionParser.parse(cron, { currentDate: context.now(), tz: 'UTC' });
    const standing = { enabled, run, isFailing: failing.has(name) };
    const status = decideStatus(standing, context.now(), () => fromNow().prev().toDate());
    const nextAt = enabled ? fromNow().next().toDate() : null;
    return { entry, name, cron, enabled, description, status, state, startedAt, completedAt, nextAt };
  });
}

/** Lists the schedules as they stand in the caller's tenant. */
export async function listSchedules(context: MemoryContext): Promise<Schedule[]> {
  authorize(context, 'query schedules');
  return readSchedules({ ...context, db: context.db.database }, context.db.tenantId);
}

/** Returns the name of the job that an entry starts: decay-sweep for decay_sweep. */
export function toJobName(entry: string): string {
  return entry.replaceAll('_', '-');
}

interface ScheduleEntry {
  cron: string;
  enabled: boolean;
}

interface Standing {
  enabled: boolean;
  run: ScheduledRun | undefined;
  isFailing: boolean;
}

function decideStatus({ enabled, run, isFailing }: Standing, now: Date, lastDue: () => Date): ScheduleStatus {
  if (!enabled) return 'disabled';
  if (isFailing || run?.state === 'failed' || run?.state === 'retry') return 'failing';
  if (hasMissed(run, now, lastDue())) return 'missed';
  return run?.startedAt ? 'ok' : 'waiting';
}

/** Tells whether a run was due while the job was on the schedule, and none was created. */
function hasMissed(run: ScheduledRun | undefined, now: Date, due: Date): boolean {
  if (!run?.scheduledSince || run.scheduledSince > due) return false;
  const isLate = now.getTime() - due.getTime() > toleranceMs;
  return isLate && (run.createdAt === null || run.createdAt < due);
}

/** Disabled by default: people rotate keys when they choose to. */
const startedByPeople: ReadonlySet<string> = new Set(['rotate-keys']);

/** Describes the schedules that need attention; disabled ones too, because they are easily forgotten. */
export function describeTroubles(schedules: readonly Schedule[]): string | null {
  const isHealthy = ({ name, status }: Schedule): boolean =>
    status === 'ok' || status === 'waiting' || (status === 'disabled' && startedByPeople.has(name));
  const troubles = schedules.filter((schedule) => !isHealthy(schedule));
  return troubles.length === 0 ? null : troubles.map(({ name, status }) => `${name} is ${status}`).join(', ');
}
