import type { GraphQLResolveInfo } from 'graphql';
import { queryFromInfo } from '@pothos/plugin-prisma';
import { resolveCursorConnection, type ResolveCursorConnectionArgs } from '@pothos/plugin-relay';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryEvent } from '../../generated/prisma/client.ts';
import {
  activityLimit,
  countActivity,
  formatPosition,
  getPosition,
  listActivity,
  readActivity,
  sinceAllowed,
  type ActivityRead,
  type EventPosition,
  type EventRow,
} from '../../memory/activity/activity.ts';
import { checkNumber } from '../../memory/values.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { readMemoriesTogether } from '../event-memories.ts';
import { setFrameId } from '../feeds.ts';
import { EntityTypeEnum, MemoryEventRef } from './event.ts';

const ActivityFilterInput = builder.inputType('ActivityFilter', {
  description: 'Filter of events. Conditions that are left out do not narrow.',
  fields: (t) => ({
    eventTypes: t.stringList({ description: 'Event types such as "fact.stored": any of these, at most 50.' }),
    entityTypes: t.field({ type: [EntityTypeEnum], description: 'Types of the changed entity: any of these.' }),
    entityId: t.string({ description: 'Which one: the UUID of a memory, for example.' }),
    actor: t.string({ description: 'The actor of the event, such as "butler:health".' }),
    requestId: t.string({ description: 'Id of the request that made the change.' }),
    since: t.field({ type: 'DateTime', description: 'At or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
    scope: t.string({ description: 'Facts and rules of this scope, episodes of this butler, and their links.' }),
    sinceEventId: t.string({ description: 'Later than the event with this UUID or global id.' }),
  }),
});

const defaultPageSize = 50;

builder.queryField('activity', (t) =>
  t.connection(
    {
      type: MemoryEventRef,
      description: 'The events of memories, newest first.',
      args: { filter: t.arg({ type: ActivityFilterInput, description: 'Filter of events.' }) },
      resolve: async (_root, { filter, ...args }, context, info) => {
        for (const name of ['first', 'last'] as const) checkNumber(name, args[name] ?? 1, 0, activityLimit);
        const options = {
          args,
          defaultSize: defaultPageSize,
          maxSize: activityLimit,
          toCursor: (event: MemoryEvent) => formatPosition(event),
        };
        const connection = await resolveCursorConnection(
          options,
          async ({ before, after, limit, inverted }: ResolveCursorConnectionArgs) => {
            const events = await listActivity(context.memory, filter ?? {}, {
              limit,
              newestFirst: !inverted,
              // Newest first: what comes after a cursor is earlier.
              before: await readCursor(context, 'after', after),
              after: await readCursor(context, 'before', before),
            });
            return prepareEvents(context, info, events, ['edges', 'node']);
          },
        );
        return { ...connection, filter: filter ?? {} };
      },
    },
    {
      name: 'ActivityConnection',
      description: 'A page of events.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'How many events match, on all pages.',
          // A statement of its own, over all that match.
          complexity: 20,
          resolve: ({ filter }, _args, { memory }) => countActivity(memory, filter),
        }),
      }),
    },
    { name: 'ActivityEdge', description: 'An event and its place.' },
  ),
);

const ActivityPageRef = builder.objectRef<{ read: ActivityRead; events: MemoryEvent[] }>('ActivityPage').implement({
  description: 'A batch of events after a position, and the position to continue from.',
  fields: (t) => ({
    events: t.field({ type: [MemoryEventRef], description: 'Oldest first.', resolve: ({ events }) => events }),
    resumeFrom: t.string({
      description:
        'Given as `since`, the next read goes on after these events: nothing is missed, nothing comes twice.',
      resolve: ({ read }) => read.resumeFrom,
    }),
    hasMore: t.boolean({
      description: 'Whether more events can be read now.',
      resolve: ({ read }) => read.hasMore,
    }),
  }),
});

builder.queryField('activityStream', (t) =>
  t.field({
    type: ActivityPageRef,
    description:
      'The events of memories after a moment or a position, oldest first, for callers that poll. Without `since`, the latest events.',
    args: {
      since: t.arg.string({
        description: `${sinceAllowed.charAt(0).toUpperCase()}${sinceAllowed.slice(1)}.`,
      }),
      scope: t.arg.string({ description: 'Facts and rules of this scope, episodes of this butler, and their links.' }),
      limit: t.arg.int({ description: `Events to read, from 1 to ${activityLimit}. Default 50.` }),
    },
    resolve: async (_root, { since, scope, limit }, context, info) => {
      const read = await readActivity(context.memory, { since: readMoment(since), scope, limit });
      return { read, events: await prepareEvents(context, info, read.events, ['events']) };
    },
  }),
);

/** What a feed hands out instead of an event when it cannot go on: thrown there, it would end a whole connection. */
class FeedProblem {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

builder.subscriptionField('activity', (t) =>
  t.field({
    type: MemoryEventRef,
    description:
      'The events of memories, as they are committed. A client that subscribes again with the id of the last event it saw misses none and gets none twice.',
    args: {
      filter: t.arg({ type: ActivityFilterInput, description: 'Filter of events.' }),
      after: t.arg.string({
        description:
          'UUID or global id of the last event that was seen. Without it, the feed begins now. Over server-sent events, the header Last-Event-ID takes its place: each frame has the UUID of its event as `id`.',
      }),
    },
    subscribe: async (_root, { filter, after }, context, info) => {
      const feed = await context.activity.follow(context.memory, {
        filter,
        after: context.lastEventId ?? after,
        prepare: (events) => prepareEvents(context, info, events, []),
      });
      return untilProblem(feed);
    },
    resolve: (item, _args, context) => {
      if (item instanceof FeedProblem) throw item.error;
      setFrameId(context, item.id);
      return item;
    },
  }),
);

function untilProblem<Item>(feed: AsyncIterableIterator<Item>): AsyncIterableIterator<Item | FeedProblem> {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => feed.next().catch((error: unknown) => ({ done: false, value: new FeedProblem(error) })),
    return: async () => (await feed.return?.()) ?? { done: true, value: undefined },
  };
}

/** With what was asked of them: relations and memories in one statement each, whatever the number of events. */
async function prepareEvents(
  context: GraphQLContext,
  info: GraphQLResolveInfo,
  events: EventRow[],
  path: string[],
): Promise<MemoryEvent[]> {
  const { tenantId } = context.memory.principal;
  const query = queryFromInfo({ context, info, path, typeName: 'MemoryEvent' });
  // Copies: the feed hands the same rows to all that follow it.
  const prepared = Object.keys(query).length === 0 ? events.map((event) => ({ ...event })) : await reload();
  readMemoriesTogether(context.memory, prepared);
  return prepared;

  async function reload(): Promise<MemoryEvent[]> {
    const where = { tenantId, id: { in: events.map(({ id }) => id) } };
    const rows = await context.memory.db.client.memoryEvent.findMany({ ...(query as object), where });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return events.flatMap(({ id }) => byId.get(id) ?? []);
  }
}

async function readCursor(
  { memory }: GraphQLContext,
  field: string,
  cursor: string | undefined,
): Promise<EventPosition | undefined> {
  if (cursor === undefined) return undefined;
  return getPosition(memory, field, cursor, 'a cursor of this connection or the id of an event');
}

/** A time as text becomes a time; an id or a place stays what it is. */
function readMoment(since: string | null | undefined): Date | string | null | undefined {
  if (!since || !/^\d{4}-\d{2}-\d{2}($|[T ])/.test(since)) return since;
  const moment = new Date(since);
  if (Number.isNaN(moment.getTime())) {
    throw invalidInput('since', sinceAllowed, since);
  }
  return moment;
}
