import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

export interface FeedAnswer<Data = Record<string, unknown>> {
  data?: Data | null;
  errors?: { message: string; extensions: { code: string; hint?: string } }[];
}

type Fetch = (request: Request) => Promise<Response>;
type Feed<Data> = AsyncIterableIterator<FeedAnswer<Data>>;

/** A subscription as server-sent events. Resolves when the server has answered; `return` hangs up. */
export async function openEventStream<Data>(
  fetch: Fetch,
  url: string,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Feed<Data>> {
  const response = await fetch(
    new Request(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables }),
    }),
  );
  if (response.body === null) throw new Error(`no feed came: ${response.status}`);
  const reader = response.body.getReader();
  const messages = readMessages<Data>(reader);
  return feedOf(
    () => messages.next(),
    () => reader.cancel(),
  );
}

function feedOf<Data>(next: Feed<Data>['next'], hangUp: () => unknown): Feed<Data> {
  const feed: Feed<Data> = {
    [Symbol.asyncIterator]: () => feed,
    next,
    return: async () => {
      await hangUp();
      return { done: true, value: undefined };
    },
  };
  return feed;
}

async function* readMessages<Data>(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<FeedAnswer<Data>, undefined> {
  const decoder = new TextDecoder();
  let received = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    received += decoder.decode(chunk.value, { stream: true });
    const blocks = received.split('\n\n');
    received = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith('event: complete')) return;
      const data = /^event: next\ndata: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data) as FeedAnswer<Data>;
    }
  }
}

/** The same over graphql-ws, on a connection of its own. */
export function openSocketFeed<Data>(url: string, query: string, variables: Record<string, unknown> = {}): Feed<Data> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const feed = client.iterate({ query, variables }) as AsyncGenerator<FeedAnswer<Data>, undefined>;
  return feedOf(
    () => feed.next(),
    () => client.dispose(),
  );
}
