import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';

/** Serves until the client closes its end of the pipe. What it asked for before that is still answered. */
export async function serveMcpStdio(server: Server): Promise<void> {
  const transport = new StdioServerTransport();
  const unanswered = new Set<RequestId>();
  let hasEnded = false;
  const closeWhenDone = (): void => {
    if (hasEnded && unanswered.size === 0) void server.close();
  };
  // The SDK calls this one before its own.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target
  transport.onmessage = (message) => {
    if (!('method' in message)) return;
    if ('id' in message) unanswered.add(message.id);
    // A cancelled request gets no answer.
    else if (message.method === 'notifications/cancelled')
      unanswered.delete(message.params?.['requestId'] as RequestId);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!('method' in message) && message.id !== undefined) unanswered.delete(message.id);
    closeWhenDone();
  };
  process.stdin.once('end', () => {
    hasEnded = true;
    closeWhenDone();
  });
  await new Promise<void>((resolve, reject) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target; this is how the SDK tells
    server.onclose = resolve;
    server.connect(transport).catch(reject);
  });
}
