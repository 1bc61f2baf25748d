import { listSchedules, type Schedule, type ScheduleStatus } from '../../lifecycle/schedules.ts';
import { builder } from '../builder.ts';

const ScheduleStatusEnum = builder.enumType('ScheduleStatus', {
  description: 'How a schedule fares.',
  values: {
    ok: { description: 'It ran when it was due, and that went well.' },
    waiting: { description: 'It was not due yet.' },
    missed: { description: 'It was due, and nothing ran.' },
    failing: { description: 'Its last run failed, as a whole or in this tenant.' },
    disabled: { description: 'The configuration has it switched off.' },
  } satisfies Record<ScheduleStatus, object>,
});

export const ScheduleRef = builder.objectRef<Schedule>('Schedule').implement({
  description: 'When a job starts by itself, and what came of it the last time.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The job.' }),
    entry: t.exposeString('entry', { description: 'Its entry in [butler.schedule].' }),
    cron: t.exposeString('cron', { description: 'When it starts, in UTC.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the schedule starts it.' }),
    description: t.exposeString('description', { description: 'What it does.' }),
    status: t.expose('status', { type: ScheduleStatusEnum, description: 'How it fares.' }),
    state: t.exposeString('state', {
      nullable: true,
      description: 'The last run: created, active, completed, failed, retry or cancelled; null before the first.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When the last run began.' }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    nextAt: t.expose('nextAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it starts next; null when it is disabled.',
    }),
  }),
});

builder.queryField('schedules', (t) =>
  t.field({
    type: [ScheduleRef],
    description: 'Every entry of [butler.schedule], the disabled ones among them.',
    resolve: (_root, _args, { memory }) => listSchedules(memory),
  }),
);
