import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<AbortSignal>();

/** Returns a signal that is aborted when the deadline of the current request has passed. */
export function currentDeadline(): AbortSignal | undefined {
  return current.getStore();
}

/** What the work gives, or what `late` makes if that takes longer. */
export async function withDeadline<T>(seconds: number, work: () => Promise<T>, late: () => Error): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = late();
      reject(error);
      controller.abort(error);
    }, seconds * 1000);
  });
  try {
    return await Promise.race([current.run(controller.signal, work), over]);
  } finally {
    clearTimeout(timer);
  }
}
