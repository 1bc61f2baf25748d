import { countStaleDays, listEventDays, refreshEventDays } from '../db/queries/event-days.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import { invalidInput } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { authorize } from '../memory/permissions.ts';
import { checkDate } from '../memory/values.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/** Stores the number of events of each past day, so that a chart of a year does not count all events again. */
export async function refreshProjections(context: MemoryContext, { dryRun }: SweepOptions): Promise<SweepReport> {
  const today = new Date(Math.floor(context.now().getTime() / millisecondsPerDay) * millisecondsPerDay);
  const refresh = dryRun ? countStaleDays : refreshEventDays;
  return { days: await refresh(context.db.client, today) };
}

export interface EventDay {
  /** As in 2026-03-01, in UTC. */
  day: string;
  counts: { name: string; count: number }[];
}

const longestSpanDays = 366;

/** Counts events by day and type; days without events are left out. */
export async function readEventDays(
  context: MemoryContext,
  { from, to }: { from?: Date | null | undefined; to?: Date | null | undefined },
): Promise<EventDay[]> {
  authorize(context, 'query activityByDay');
  const until = checkDate('to', to) ?? context.now();
  const since = checkDate('from', from) ?? new Date(until.getTime() - 30 * millisecondsPerDay);
  const days = (until.getTime() - since.getTime()) / millisecondsPerDay;
  if (!(days >= 0 && days <= longestSpanDays)) {
    throw invalidInput('from', `at most ${longestSpanDays} days before to, and not after it`, since.toISOString());
  }
  const rows = await listEventDays(context.db.client, since, until);
  const byDay = new Map<string, EventDay>();
  for (const { day, eventType, count } of rows) {
    const entry = byDay.get(day) ?? { day, counts: [] };
    entry.counts.push({ name: eventType, count });
    byDay.set(day, entry);
  }
  return [...byDay.values()];
}
