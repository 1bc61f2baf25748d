import { refreshEventDays, selectEventDays, staleEventDays } from '../db/sql/event-days.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import { invalidInput } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { authorize } from '../memory/permissions.ts';
import { checkDate } from '../memory/values.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/** Counts the events of the days that are over, so that a year of them is not counted again for every chart. */
export async function refreshProjections(context: MemoryContext, { dryRun }: SweepOptions): Promise<SweepReport> {
  const { tenantId } = context.principal;
  const statement = dryRun ? staleEventDays : refreshEventDays;
  const today = startOfDay(context.now());
  const [counted] = await context.db.client.$queryRaw<{ days: number }[]>(statement(tenantId, today));
  return { days: counted?.days ?? 0 };
}

export interface EventDay {
  /** As in 2026-03-01, in UTC. */
  day: string;
  counts: { name: string; count: number }[];
}

const longestSpanDays = 366;

/** What was done on which day, in numbers, by the types of events; days without any are left out. */
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
  const { tenantId } = context.principal;
  const rows = await context.db.client.$queryRaw<{ day: string; eventType: string; count: number }[]>(
    selectEventDays(tenantId, since, until),
  );
  const byDay = new Map<string, EventDay>();
  for (const { day, eventType, count } of rows) {
    const entry = byDay.get(day) ?? { day, counts: [] };
    entry.counts.push({ name: eventType, count });
    byDay.set(day, entry);
  }
  return [...byDay.values()];
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / millisecondsPerDay) * millisecondsPerDay);
}
