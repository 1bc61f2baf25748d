// Installs another Node.js release from the npm registry, then checks on it that `npm install` prints no engine warning and
// that the built server starts, answers and stops.
//   node scripts/smoke-other-node.mjs [release]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './run.mjs';

const release = process.argv[2] ?? '22.23.3';
const name = `node-${process.platform}-${process.arch}`;
const directory = mkdtempSync(join(tmpdir(), 'butler-memory-smoke-'));
try {
  const node = installNode();
  checkEngines(node);
  await checkServer(node);
  console.log(`smoke test passed on Node.js ${release}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function installNode() {
  run('npm', ['install', '--prefix', directory, '--no-audit', '--no-fund', '--silent', `${name}@${release}`]);
  return join(directory, 'node_modules', name, 'bin', 'node');
}

function checkEngines(node) {
  const npm = realpathSync(run('which', ['npm']).stdout.trim());
  const { stderr } = run(node, [npm, 'install', '--dry-run', '--ignore-scripts', '--no-audit', '--no-fund']);
  if (stderr.includes('EBADENGINE')) throw new Error(`npm install warns on Node.js ${release}:\n${stderr}`);
}

function run(command, commandArguments) {
  const result = spawnSync(command, commandArguments, { cwd: root, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`${command} ${commandArguments.join(' ')} failed:\n${result.stderr}`);
  return result;
}

async function checkServer(node) {
  const env = { ...process.env, BUTLER_MEMORY_HOME: join(directory, 'home'), PORT: '0' };
  const server = spawn(node, [join(root, 'dist', 'src', 'cli.js'), 'serve'], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'close');
  const failed = ended.then(([code, signal]) => {
    throw new Error(`the server ended with ${code ?? signal} before it was ready`);
  });
  const query = '{ health { status checks { name status } } }';
  const url = await Promise.race([findUrl(server.stdout), failed]);
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = await response.json();
  server.kill('SIGTERM');
  const [code] = await ended;
  if (data?.health?.status !== 'ok') throw new Error(`the server is not healthy: ${JSON.stringify(data)}`);
  if (code !== 0) throw new Error(`the server ended with ${code} after SIGTERM`);
}

/** The address it listens on, once the database, the queue and the model are ready. */
async function findUrl(stdout) {
  let url;
  for await (const line of createInterface({ input: stdout })) {
    const entry = JSON.parse(line);
    url ??= entry.url;
    if (entry.msg.startsWith('ready')) return url;
  }
  throw new Error('the server closed its output before it was ready');
}
