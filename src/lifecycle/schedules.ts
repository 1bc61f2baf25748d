import { CronExpressionParser, type CronExpression } from 'cron-parser';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { failingSweeps, lastScheduledRuns } from '../db/sql/queue-runs.ts';
import type { MemoryContext } from '../memory/context.ts';
import { authorize } from '../memory/permissions.ts';
import { toSnakeCase } from '../shared/names.ts';

export const scheduleStatuses = ['ok', 'waiting', 'missed', 'failing', 'disabled'] as const;
export type ScheduleStatus = (typeof scheduleStatuses)[number];

export interface Schedule {
  /** Its entry in [butler.schedule]. */
  entry: string;
  /** The job that it starts. */
  name: string;
  cron: string;
  enabled: boolean;
  description: string;
  status: ScheduleStatus;
  /** What came of the last run, as the queue has it; null before the first. */
  state: string | null;
  startedAt: Date | null;
  completedAt: Date | null;
  /** Null when it is disabled. */
  nextAt: Date | null;
}

interface ScheduledRun {
  name: string;
  scheduledSince: Date | null;
  createdAt: Date | null;
  startedAt: Date | null;
  completedAt: Date | null;
  state: string | null;
}

/** A run may wait so long for a busy worker before it counts as missed. */
const toleranceMs = 15 * 60_000;

/**
 * Every entry of [butler.schedule] and how it fares: its sweeps in one tenant, or for who looks after the server in all.
 * Rejects when the queue cannot be asked.
 */
export async function readSchedules(
  context: { db: Pick<Database, 'queueQuery'>; config: Config; now: () => Date },
  tenantId: string | null,
): Promise<Schedule[]> {
  const runs = (await context.db.queueQuery(lastScheduledRuns)).rows as ScheduledRun[];
  const failing = (await context.db.queueQuery(failingSweeps, [tenantId])).rows as { name: string }[];
  const failingNames = new Set(failing.map(({ name }) => name));
  return Object.entries(context.config.schedule).map(([key, { cron, enabled, prompt }]) => {
    const entry = toSnakeCase(key);
    const name = jobNameOf(entry);
    const run = runs.find((candidate) => candidate.name === name);
    const { state = null, startedAt = null, completedAt = null } = run ?? {};
    // Each is an iterator that moves.
    const fromNow = (): CronExpression => CronExpressionParser.parse(cron, { currentDate: context.now(), tz: 'UTC' });
    const isFailing = failingNames.has(name);
    const status = statusOf({ enabled, run, isFailing }, context.now(), () => fromNow().prev().toDate());
    const nextAt = enabled ? fromNow().next().toDate() : null;
    return { entry, name, cron, enabled, description: prompt, status, state, startedAt, completedAt, nextAt };
  });
}

/** The same for a caller, in its own tenant. */
export async function listSchedules(context: MemoryContext): Promise<Schedule[]> {
  authorize(context, 'query schedules');
  return readSchedules({ ...context, db: context.db.database }, context.db.tenantId);
}

/** decay_sweep starts decay-sweep. */
export function jobNameOf(entry: string): string {
  return entry.replaceAll('_', '-');
}

interface Standing {
  enabled: boolean;
  run: ScheduledRun | undefined;
  isFailing: boolean;
}

function statusOf({ enabled, run, isFailing }: Standing, now: Date, lastDue: () => Date): ScheduleStatus {
  if (!enabled) return 'disabled';
  if (isFailing || run?.state === 'failed' || run?.state === 'retry') return 'failing';
  if (hasMissed(run, now, lastDue())) return 'missed';
  return run?.startedAt ? 'ok' : 'waiting';
}

/** Due while it was on the schedule, and nothing was created for it since. */
function hasMissed(run: ScheduledRun | undefined, now: Date, due: Date): boolean {
  if (!run?.scheduledSince || run.scheduledSince > due) return false;
  const isLate = now.getTime() - due.getTime() > toleranceMs;
  return isLate && (run.createdAt === null || run.createdAt < due);
}

/** Disabled unless somebody wants it: people rotate keys when they choose to. */
const byHand: ReadonlySet<string> = new Set(['rotate-keys']);

/** Those that somebody should look at, in words; the disabled ones too, for they are easily forgotten. */
export function describeTroubles(schedules: readonly Schedule[]): string | null {
  const isWell = ({ name, status }: Schedule): boolean =>
    status === 'ok' || status === 'waiting' || (status === 'disabled' && byHand.has(name));
  const troubles = schedules.filter((schedule) => !isWell(schedule));
  return troubles.length === 0 ? null : troubles.map(({ name, status }) => `${name} is ${status}`).join(', ');
}
