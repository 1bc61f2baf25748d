import { readRequestBody } from '@modelcontextprotocol/sdk/server/requestBody.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';

/** Stateless: every request stands alone, so that any process of a fleet can answer it. */
export async function handleMcpRequest(request: Request, server: Server, bodyLimitBytes: number): Promise<Response> {
  // GET would open a stream on which nothing ever comes, and DELETE end a session that nobody keeps.
  if (request.method !== 'POST') {
    return refuse(405, ErrorCode.InvalidRequest, `method: POST; given ${request.method}`, { allow: 'POST' });
  }
  const body = await readRequestBody(request, bodyLimitBytes);
  if (body.tooLarge) return refuse(413, ErrorCode.InvalidRequest, `body: at most ${bodyLimitBytes} bytes`);
  const message = parseJson(body.text);
  if (message === undefined) return refuse(400, ErrorCode.ParseError, 'body: JSON; given something else');
  // They left the protocol in 2025-06-18, and one that cancels its own request would never be answered.
  if (Array.isArray(message)) return refuse(400, ErrorCode.InvalidRequest, 'body: one message; given a batch');
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody: message });
  const answer = await response.arrayBuffer();
  await server.close();
  return new Response(answer.byteLength === 0 ? null : answer, response);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(status: number, code: ErrorCode, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
}
