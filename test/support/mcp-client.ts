import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { App } from '../../src/http/app.ts';

export interface Called {
  isError: boolean;
  text: string;
  structuredContent: unknown;
  /** Of what was stored or found; empty when nothing was. */
  id: string;
  meta: unknown;
}

/** The SDK's client on an app without a port. */
export class TestClient extends Client {
  async call(name: string, given: Record<string, unknown> = {}): Promise<Called> {
    const { isError = false, content, structuredContent, _meta } = await this.callTool({ name, arguments: given });
    const [first] = content as { text: string }[];
    const { id = '' } = (structuredContent ?? {}) as { id?: string };
    return { isError: isError === true, text: first?.text ?? '', structuredContent, id, meta: _meta };
  }
}

export function mcpTransport(app: App, path = '/mcp'): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(path, 'http://localhost'), {
    fetch: (url, init) => app.fetch(new Request(url, init)),
  });
}

export async function connectMcp(app: App, path?: string): Promise<TestClient> {
  const client = new TestClient({ name: 'test', version: '1' });
  await client.connect(mcpTransport(app, path));
  return client;
}
