import { isAsyncIterable } from 'graphql-yoga';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { callerKey } from '../auth/caller.ts';
import type { Limits } from '../limits/limits.ts';
import type { Release } from '../limits/places.ts';
import type { GraphQLContext } from './context.ts';

type Answers = AsyncGenerator<ExecutionResult, void, void>;
export type Subscribe = (subscription: ExecutionArgs) => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;

/** A subscription as a feed of its caller's, from its beginning until it ends, is ended or its client has hung up. */
export function limitFeeds(limits: Limits, subscribe: Subscribe, hungUp?: AbortSignal): Subscribe {
  return async (subscription) => {
    const { memory } = subscription.contextValue as GraphQLContext;
    const release = limits.openFeed(callerKey(memory.principal));
    try {
      const answers = await subscribe(subscription);
      if (isAsyncIterable(answers)) return endWith(hungUp, releaseWhenDone(answers, release));
      release();
      return answers;
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** An answer to a client that is gone is not even begun, so nobody would end the feed. */
function endWith(hungUp: AbortSignal | undefined, answers: Answers): Answers {
  const end = (): void => void answers.return();
  if (hungUp?.aborted === true) end();
  else hungUp?.addEventListener('abort', end, { once: true });
  return answers;
}

/** Not a generator function: one that is ended before it began would never come to its `finally`. */
function releaseWhenDone(answers: AsyncIterable<ExecutionResult>, release: Release): Answers {
  const iterator = answers[Symbol.asyncIterator]();
  const settle = async (step: Promise<IteratorResult<ExecutionResult, unknown>>): ReturnType<Answers['next']> => {
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
  const end = async (step: Promise<unknown> | undefined): ReturnType<Answers['next']> => {
    release();
    await step;
    return { done: true, value: undefined };
  };
  const watched: Answers = {
    [Symbol.asyncIterator]: () => watched,
    next: () => settle(iterator.next()),
    return: () => end(iterator.return?.()),
    throw: (error: unknown) => end(iterator.throw?.(error)),
  };
  return watched;
}
