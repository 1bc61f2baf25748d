import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { packageRoot } from '../../src/shared/package-root.ts';
import type { QualityDoor } from './ask.ts';

/** The real command line as a process of its own, with the model loaded; and what an MCP client does with it. */
export async function withMcpDoor<T>(home: string, work: (door: QualityDoor) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(packageRoot, 'src', 'cli.ts'), 'serve'], {
    cwd: packageRoot,
    env: { ...process.env, BUTLER_MEMORY_HOME: home, PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await waitUntilReady(child);
    const client = new Client({ name: 'bench-quality', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
    const result = await work(doorOf(client));
    await client.close();
    return result;
  } finally {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
}

/** The address, once the server has said that it is ready. Its output is read on, or it would have to wait. */
async function waitUntilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let address: string | undefined;
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
      if (!text.startsWith('{')) return;
      const { msg, url } = JSON.parse(text) as { msg: string; url?: string };
      address ??= url;
      if (msg.startsWith('ready') && address !== undefined) resolve(address);
    });
  });
}

function doorOf(client: Client): QualityDoor {
  const call = async <T>(name: string, given: Record<string, unknown>): Promise<T> => {
    const { isError, content, structuredContent } = await client.callTool({ name, arguments: given });
    if (isError === true) throw new Error(`${name}: ${JSON.stringify(content)}`);
    return structuredContent as T;
  };
  const idOf = ({ id }: { id: string }): string => id;
  return {
    storeFact: async ({ subject, predicate, content, scope = 'global' }) =>
      idOf(await call('memory_store_fact', { subject, predicate, content, scope })),
    storeRule: async ({ content }) => idOf(await call('memory_store_rule', { content })),
    storeSession: async ({ sessionId, episodes }) => {
      const given = episodes.map(({ butler, content, observedAt }) => {
        return { butler, content, session_id: sessionId, observed_at: observedAt.toISOString() };
      });
      const stored = await call<{ episodes: { id: string }[] }>('memory_ingest_batch', { episodes: given });
      return stored.episodes.map(idOf);
    },
    search: async ({ text, scope }, mode, limit) => {
      const given = { query: text, mode, limit, ...(scope !== undefined && { scope }) };
      const { results } = await call<{ results: { id: string }[] }>('memory_search', given);
      return results.map(idOf);
    },
  };
}
