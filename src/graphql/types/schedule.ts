import { toSnakeCase } from '../../names.ts';
import { builder } from '../builder.ts';

interface Schedule {
  job: string;
  cron: string;
  enabled: boolean;
  available: boolean;
  description: string;
}

const ScheduleRef = builder.objectRef<Schedule>('Schedule').implement({
  description: 'When a job starts by itself.',
  fields: (t) => ({
    job: t.exposeString('job', { description: 'Its entry in [butler.schedule].' }),
    cron: t.exposeString('cron', { description: 'When it starts, in UTC.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the schedule starts it.' }),
    available: t.exposeBoolean('available', { description: 'Whether this version has the job at all.' }),
    description: t.exposeString('description', { description: 'What it does.' }),
  }),
});

builder.queryField('schedules', (t) =>
  t.field({
    type: [ScheduleRef],
    authScopes: { role: 'operator' },
    description: 'Every entry of [butler.schedule], the disabled ones among them.',
    resolve: (_root, _args, { memory, scheduledJobs }) =>
      Object.entries(memory.config.schedule).map(([job, { cron, enabled, prompt }]) => ({
        job: toSnakeCase(job),
        cron,
        enabled,
        available: scheduledJobs.has(job),
        description: prompt,
      })),
  }),
);
