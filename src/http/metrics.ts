import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { readSchedules, scheduleStatuses, type Schedule } from '../lifecycle/schedules.ts';
import { limitReasons } from '../limits/limit-error.ts';

/** Why a request was not even tried, or a connection not taken. */
export const refusalReasons = [...limitReasons, 'connections', 'foreign', 'unauthenticated'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export interface Metrics {
  /** After each answer. The path is one of ours, or "other". */
  countRequest(request: { method: string; path: string; status: number; seconds: number }): void;
  countRefusal(reason: RefusalReason): void;
  /** In the text format that Prometheus reads. */
  render(): Promise<{ contentType: string; text: string }>;
}

interface Sources {
  db: Pick<Database, 'queueQuery'>;
  config: Config;
  now: () => Date;
}

export function createMetrics(sources: Sources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'butler_memory_http_request_duration_seconds',
    help: 'Time until a request was answered.',
    labelNames: ['method', 'path', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.35, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refusals = refusalCounter(registry);
  const schedules = scheduleGauges(registry);
  return {
    countRefusal: (reason) => refusals.inc({ reason }),
    countRequest: ({ method, path, status, seconds }) => {
      const knownMethod = ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD'].includes(method) ? method : 'other';
      requests.observe({ method: knownMethod, path, status }, seconds);
    },
    render: async () => {
      // A queue that does not answer must not take the other figures with it: its own say so.
      await readSchedules(sources, null).then(
        (read) => schedules.show(read),
        () => schedules.hide(),
      );
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function refusalCounter(registry: Registry): Counter<'reason'> {
  const refusals = new Counter({
    name: 'butler_memory_refused_total',
    help: 'Requests, operations and connections that were refused, by what there was too much of or what was wrong.',
    labelNames: ['reason'],
    registers: [registry],
  });
  // A rate over a counter that first appears at one misses that one.
  for (const reason of refusalReasons) refusals.inc({ reason }, 0);
  return refusals;
}

interface ScheduleGauges {
  show(schedules: readonly Schedule[]): void;
  hide(): void;
}

function scheduleGauges(registry: Registry): ScheduleGauges {
  const registers = [registry];
  const known = new Gauge({
    name: 'butler_memory_schedules_known',
    help: 'Whether the queue could be asked about the schedules.',
    registers,
  });
  const status = new Gauge({
    name: 'butler_memory_schedule_status',
    help: 'One for the status that the schedule of a job has, and zero for the others.',
    labelNames: ['job', 'status'],
    registers,
  });
  const completed = new Gauge({
    name: 'butler_memory_schedule_last_completed_timestamp_seconds',
    help: 'When the last run of a job ended.',
    labelNames: ['job'],
    registers,
  });
  const reset = (isKnown: boolean): void => {
    known.set(isKnown ? 1 : 0);
    status.reset();
    completed.reset();
  };
  return {
    show: (schedules) => {
      reset(true);
      for (const { name, status: current, completedAt } of schedules) {
        for (const one of scheduleStatuses) status.set({ job: name, status: one }, one === current ? 1 : 0);
        if (completedAt !== null) completed.set({ job: name }, completedAt.getTime() / 1000);
      }
    },
    hide: () => reset(false),
  };
}
