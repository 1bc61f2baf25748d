import type { Release } from './concurrency-limit.ts';

/** A stream is in use until its client or its source ends it; any other answer is complete. */
export function releaseAtEnd(
  response: Response,
  { signal }: Pick<Request, 'signal'>,
  release: Release,
  firstText?: string,
): Response {
  if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    release();
    return response;
  }
  const reader = response.body.getReader();
  // The body of an answer to a client that is gone is not even read, nor cancelled.
  const hangUp = (): void => {
    release();
    reader.cancel().catch(() => undefined);
  };
  if (signal.aborted) hangUp();
  else signal.addEventListener('abort', hangUp, { once: true });
  const watched = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (firstText !== undefined) controller.enqueue(new TextEncoder().encode(firstText));
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      release();
      controller.close();
    },
    cancel: async (reason) => {
      release();
      await reader.cancel(reason);
    },
  });
  return new Response(watched, response);
}
