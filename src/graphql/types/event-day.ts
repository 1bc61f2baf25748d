import { readEventDays, type EventDay } from '../../lifecycle/projections.ts';
import { builder } from '../builder.ts';
import { CountRef } from './stats.ts';

const EventDayRef = builder.objectRef<EventDay>('EventDay').implement({
  description: 'The number of events on one day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day in UTC: 2026-03-01.' }),
    counts: t.field({ type: [CountRef], description: 'By the type of the event.', resolve: ({ counts }) => counts }),
  }),
});

builder.queryField('activityByDay', (t) =>
  t.field({
    type: [EventDayRef],
    description: 'The number of events on each day, for charts. Days without events are left out.',
    args: {
      from: t.arg({ type: 'DateTime', description: 'From the day of this moment on. Default: 30 days before `to`.' }),
      to: t.arg({ type: 'DateTime', description: 'To the day of this moment, with it. Default: today.' }),
    },
    complexity: { multiplier: 30 },
    resolve: (_root, span, { memory }) => readEventDays(memory, span),
  }),
);
