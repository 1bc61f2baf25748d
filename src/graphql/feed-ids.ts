import type { Plugin } from 'graphql-yoga';
import type { GraphQLContext } from './context.ts';

/** By the context of a subscription: the id of the event whose answer is being made. */
const eventIds = new WeakMap<GraphQLContext, string>();

/** Called where a feed resolves an event: over server-sent events, its frame carries this id. */
export function nameFrame(context: GraphQLContext, eventId: string): void {
  eventIds.set(context, eventId);
}

/**
 * Adds the `id:` field to the frames of feeds, which EventSource sends back as Last-Event-ID when it reconnects. Yoga
 * writes `data: <text>` and an empty line, and JSON has no line break: a line after the text is a field of its own.
 */
export const sendFeedIds: Plugin = {
  onSubscribe: ({ args }) => ({
    onSubscribeResult: () => ({
      onNext: ({ result, setResult }) => {
        const id = eventIds.get(args.contextValue as unknown as GraphQLContext);
        if (id === undefined) return;
        const stringify = (answer: unknown): string => `${JSON.stringify(answer)}\nid: ${id}`;
        setResult({ ...result, stringify } as typeof result);
      },
    }),
  }),
};
