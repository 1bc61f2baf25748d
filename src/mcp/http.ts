import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

/** Stateless: every request stands alone, so that any process of a fleet can answer it. */
export async function handleMcpRequest(request: Request, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const response = await transport.handleRequest(request);
  const body = await response.arrayBuffer();
  await server.close();
  return new Response(body.byteLength === 0 ? null : body, response);
}
