import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Release } from '../limits/concurrency-limit.ts';
import type { GraphQLContext } from './context.ts';

export type Feed = AsyncGenerator<ExecutionResult, void, void>;

/** Opens a feed that holds its place until it ends by itself or `ended` is aborted. */
export async function openFeed(
  open: () => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>,
  ended: AbortSignal,
  release: Release,
): Promise<Feed | ExecutionResult> {
  try {
    const answers = await open();
    if (isAsyncIterable(answers)) return endWith(ended, releaseWhenDone(answers, release));
    release();
    return answers;
  } catch (error) {
    release();
    throw error;
  }
}

/** Ends the feed of a client that is gone: nothing reads its answer, so nothing else would. */
function endWith(ended: AbortSignal, feed: Feed): Feed {
  const end = (): void => void feed.return();
  if (ended.aborted) end();
  else ended.addEventListener('abort', end, { once: true });
  return feed;
}

/** Not a generator function: one that is ended before its first step never reaches its `finally`. */
function releaseWhenDone(answers: AsyncIterable<ExecutionResult>, release: Release): Feed {
  const iterator = answers[Symbol.asyncIterator]();
  const settle = async (step: Promise<IteratorResult<ExecutionResult, unknown>>): ReturnType<Feed['next']> => {
    try {
      const result = await step;
      if (!result.done) return result;
      release();
      return { done: true, value: undefined };
    } catch (error) {
      release();
      throw error;
    }
  };
  const end = async (step: Promise<unknown> | undefined): ReturnType<Feed['next']> => {
    release();
    await step;
    return { done: true, value: undefined };
  };
  const feed: Feed = {
    [Symbol.asyncIterator]: () => feed,
    next: () => settle(iterator.next()),
    return: () => end(iterator.return?.()),
    throw: (error: unknown) => end(iterator.throw?.(error)),
  };
  return feed;
}

/** By the context of a subscription: the id of the event whose answer is being made. */
const eventIds = new WeakMap<GraphQLContext, string>();

/** Sets the id of the server-sent event that carries the answer being made. */
export function setFrameId(context: GraphQLContext, eventId: string): void {
  eventIds.set(context, eventId);
}

/**
 * Adds the `id:` field to server-sent events, which EventSource sends back as Last-Event-ID when it reconnects. Yoga
 * writes `data: <text>` and an empty line, and JSON has no line break: a line after the text is a field of its own.
 */
export const sendFrameIds: Plugin = {
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
