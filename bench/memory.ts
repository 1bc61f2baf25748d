import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../src/shared/package-root.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { npmStart } from './npm-start.ts';
import { takeTour } from './tour.ts';

const built = join(packageRoot, 'dist', 'src');

/** What each part alone adds to a Node.js process that does nothing else. `home` is a directory of its own. */
const parts: [what: string, script: string][] = [
  ['the modules of the server', `await import(built + '/http/server.js')`],
  [
    'the embedded database, opened',
    `const { openPglite } = await import(built + '/db/engines/pglite-engine.js');
     const engine = await openPglite({ home, name: 'memory', statementTimeoutMs: 60000 });
     await engine.pool.query('SELECT count(*) FROM facts');`,
  ],
  [
    'the embedding model, one text embedded',
    `const { createEmbedder } = await import(built + '/embedding/create-embedder.js');
     const embedder = await createEmbedder({ provider: 'transformers', model: 'Xenova/all-MiniLM-L6-v2', dtype: 'q8',
       dimensions: 384, threads: 1, queryCacheEntries: 0, maxTextsInFlight: 2, allowDownload: false, downloadDirectory: home });
     await embedder.embed(['a text']);`,
  ],
  ['the tokenizer of contexts', `await import('gpt-tokenizer/encoding/o200k_base')`],
  ['GraphiQL, once its page was shown', `await import('@graphql-yoga/render-graphiql')`],
];

export const memory: Benchmark = {
  question:
    'How much memory is resident after the tour (500 MB at most), and what do the parts take, each alone in a process? (Linux)',
  measure: async () => {
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    try {
      const alone = await residentWith('', home);
      const figures: Figure[] = [{ what: 'Node.js alone', value: megabytes(alone) }];
      for (const [what, script] of parts) {
        figures.push({ what, value: `+ ${megabytes((await residentWith(script, home)) - alone)}` });
      }
      return [...figures, ...(await measureServer(join(home, 'server')))];
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

async function residentWith(script: string, home: string): Promise<number> {
  const variables = `const built = ${JSON.stringify(built)}; const home = ${JSON.stringify(home)};`;
  const program = `${variables} ${script}\n; console.log(process.memoryUsage().rss); process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: packageRoot,
  });
  return Number(stdout);
}

async function measureServer(home: string): Promise<Figure[]> {
  const server = await npmStart(home);
  try {
    const ready = residentOf(server.pid, 'VmRSS');
    await takeTour(server.url);
    return [
      { what: 'the server when it is ready', value: megabytes(ready) },
      { what: 'the server after the tour', value: megabytes(residentOf(server.pid, 'VmRSS')) },
      { what: 'the server, most at any time', value: megabytes(residentOf(server.pid, 'VmHWM')) },
    ];
  } finally {
    await server.end('SIGTERM');
  }
}

function residentOf(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`;
}
