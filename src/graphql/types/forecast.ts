import { resolveCursorConnection } from '@pothos/plugin-relay';
import { countForecast, forecastFading, type Forecast } from '../../lifecycle/forecast.ts';
import { builder } from '../builder.ts';
import { checkPageSize, pageLimit } from '../pages.ts';
import { MemoryInterface } from './memory.ts';

/** What will fade, and when: the queue of those who review. */

const FadingMemoryRef = builder.objectRef<Forecast>('FadingMemory').implement({
  description: 'A fact or rule that fades unless somebody confirms it, and when.',
  fields: (t) => ({
    memory: t.field({ type: MemoryInterface, description: 'The fact or rule.', resolve: ({ memory }) => memory }),
    fadesAt: t.expose('fadesAt', {
      type: 'DateTime',
      description: 'The moment from which it is not retrieved any more; in the past if it fades already.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The moment from which its confidence is so low that it expires; null if that never comes.',
    }),
  }),
});

const usualDays = 30;

builder.queryField('fading', (t) =>
  t.connection(
    {
      type: FadingMemoryRef,
      description:
        'What to review: live facts and rules that fade within so many days unless they are confirmed, the first to fade first. Those that fade already come before all others. Warnings, disabled rules and what is permanent do not fade.',
      args: {
        withinDays: t.arg.float({
          defaultValue: usualDays,
          description: 'How far to look ahead, up to 36500 days. With 0, only what fades already.',
        }),
      },
      resolve: async (_root, { withinDays, ...args }, { memory }) => {
        checkPageSize(args);
        const days = withinDays ?? usualDays;
        const connection = await resolveCursorConnection(
          { args, defaultSize: 20, maxSize: pageLimit, toCursor: (forecast) => (forecast as Forecast).cursor },
          (page) => forecastFading(memory, { withinDays: days, ...page }),
        );
        return { ...connection, withinDays: days } as never;
      },
    },
    {
      name: 'FadingMemoryConnection',
      description: 'A page of fading memories.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'How many there are on all pages.',
          // A statement of its own, over all that match.
          complexity: 20,
          resolve: (page, _args, { memory }) =>
            countForecast(memory, (page as unknown as { withinDays: number }).withinDays),
        }),
      }),
    },
    { name: 'FadingMemoryEdge', description: 'A fading memory, and its cursor.' },
  ),
);
