// `node scripts/mcp-conformance.mjs`: the official MCP conformance suite against the built server, without sessions and with
// them. Ends with 1 when a scenario fails that mcp-conformance.yml does not list, or passes that it does. It fetches the suite
// from the npm registry, and Node.js 22 with it where this one is older, so it is no part of `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, root } from './run.mjs';

const suite = '@modelcontextprotocol/conformance@0.1.16';
const oldestNode = 22;
const startLimitMs = 60_000;

/** They need a session to look at, and warn of a server that gives none. */
const needSession = ['server-sse-polling', 'server-sse-multiple-streams'];

build();
let failed = false;
for (const sessions of [false, true]) {
  console.log(`\n${sessions ? 'With' : 'Without'} sessions`);
  const server = await startServer(sessions);
  try {
    failed = runSuite(server, sessions ? [] : needSession) !== 0 || failed;
  } finally {
    await server.stop();
  }
}
process.exitCode = failed ? 1 : 0;

async function startServer(sessions) {
  const directory = mkdtempSync(join(tmpdir(), 'butler-memory-conformance-'));
  const config = join(directory, 'butler.toml');
  writeFileSync(config, `[butler.mcp]\nsessions = ${sessions}\n`);
  const port = await freePort();
  const child = spawn(process.execPath, [join(root, 'dist', 'src', 'cli.js'), 'serve'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      LOG_LEVEL: 'error',
      BUTLER_MEMORY_CONFIG: config,
      BUTLER_MEMORY_HOME: join(directory, 'data'),
      BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing',
    },
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true });
  };
  const address = `http://127.0.0.1:${port}`;
  try {
    await untilReady(address, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${address}/mcp`, directory, stop };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

async function untilReady(address, child) {
  const until = Date.now() + startLimitMs;
  while (Date.now() < until && child.exitCode === null) {
    const response = await fetch(`${address}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(200);
  }
  throw new Error(`the server at ${address} is not ready`);
}

/** The code that the suite ends with. */
function runSuite({ url, directory }, expectedBesides) {
  const isNodeTooOld = Number(process.versions.node.split('.')[0]) < oldestNode;
  const node = isNodeTooOld ? ['-p', `node-${process.platform}-${process.arch}@${oldestNode}`] : [];
  const baseline = join(directory, 'expected-failures.yml');
  const listed = readFileSync(join(root, 'scripts', 'mcp-conformance.yml'), 'utf8');
  writeFileSync(baseline, listed + expectedBesides.map((name) => `  - ${name}\n`).join(''));
  const command = ['conformance', 'server', '--url', url, '--suite', 'all', '--expected-failures', baseline];
  const { status, error } = spawnSync('npx', ['-y', ...node, '-p', suite, '--', ...command], {
    cwd: tmpdir(),
    stdio: 'inherit',
  });
  if (error) throw error;
  return status ?? 1;
}
