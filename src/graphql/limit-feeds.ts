import { isAsyncIterable } from 'graphql-yoga';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { callerKey, currentAdmission } from '../auth/caller.ts';
import type { Vigil } from '../auth/vigil.ts';
import type { Limits } from '../limits/limits.ts';
import type { Release } from '../limits/gate.ts';
import type { GraphQLContext } from './context.ts';

type Answers = AsyncGenerator<ExecutionResult, void, void>;
export type Subscribe = (subscription: ExecutionArgs) => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;

/** What ends a feed from outside. */
export interface FeedEnds {
  /** Its client has hung up. */
  hungUp: AbortSignal;
  /** Whatever its caller was let in by has ended. */
  vigil: Vigil;
}

/** A subscription as a feed of its caller's, from its beginning until it ends or is ended. A socket ends its own. */
export function limitFeeds(limits: Limits, subscribe: Subscribe, ends?: FeedEnds): Subscribe {
  return async (subscription) => {
    const { memory } = subscription.contextValue as GraphQLContext;
    const close = limits.openFeed(callerKey(memory.principal));
    const watch = ends?.vigil.watch(currentAdmission());
    const release = (): void => [close, watch?.release].forEach((finish) => finish?.());
    try {
      const answers = await subscribe(subscription);
      if (isAsyncIterable(answers)) {
        const signals = [ends?.hungUp, watch?.signal].filter((signal) => signal !== undefined);
        return endWith(AbortSignal.any(signals), releaseWhenDone(answers, release));
      }
      release();
      return answers;
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** An answer to a client that is gone is not even begun, so nobody would end the feed. */
function endWith(ended: AbortSignal, answers: Answers): Answers {
  const end = (): void => void answers.return();
  if (ended.aborted) end();
  else ended.addEventListener('abort', end, { once: true });
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
