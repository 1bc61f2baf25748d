import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** Sends bytes as they are, which no HTTP client would, and answers with all that came back until the end. */
export async function sendRaw(url: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}

/** A request that the server has begun to answer (it said "continue") and that lacks its body still. */
export async function beginRequest(url: string, body: string): Promise<ClientRequest> {
  const begun = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  begun.flushHeaders();
  await once(begun, 'continue');
  return begun;
}
