// `npm test`: every test on the embedded database, then every test on PostgreSQL.
//   node scripts/test.mjs [--engine pglite|postgres] [arguments for vitest, such as a file filter]
// PostgreSQL is the server that TEST_DATABASE_URL names, or one that this script starts and stops itself.
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants as access,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { root as packageRoot, runSteps } from './run.mjs';

const postgresScript = join(packageRoot, 'scripts', 'postgres-for-tests.sh');
const slots = 8;
const sharedMemory = '/dev/shm';
const enoughBytes = 4 * 1024 ** 3;
const nothing = { passed: 0, failed: 0, skipped: 0 };

const { engines, vitestArguments } = readArguments(process.argv.slice(2));
let child;
let interruptedBy;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interruptedBy = signal;
    child?.kill(signal);
  });
}
process.exitCode = await main();

async function main() {
  generateIfStale();
  const halves = [];
  for (const engine of engines) {
    if (interruptedBy === undefined) halves.push(engine === 'pglite' ? await runPglite() : await runPostgres());
  }
  return report(halves);
}

function readArguments(given) {
  const at = given.indexOf('--engine');
  if (at < 0) return { engines: ['pglite', 'postgres'], vitestArguments: given };
  const engine = given[at + 1];
  if (engine !== 'pglite' && engine !== 'postgres') {
    console.error(`--engine must be pglite or postgres, given ${engine ?? 'nothing'}`);
    process.exit(2);
  }
  return { engines: [engine], vitestArguments: given.toSpliced(at, 2) };
}

/** Only what is not committed: schema.graphql and the docs must not change under the tests that compare them. */
function generateIfStale() {
  const client = join(packageRoot, 'src', 'generated', 'prisma', 'client.ts');
  const documents = join(packageRoot, 'test', 'generated', 'gql.ts');
  const sources = listFiles(join(packageRoot, 'test')).filter(
    (file) => file.endsWith('.ts') && !file.includes('generated'),
  );
  makeIfStale(
    client,
    [join(packageRoot, 'prisma', 'schema.prisma')],
    ['node', 'scripts/generate.mjs', '--uncommitted'],
  );
  makeIfStale(
    documents,
    [join(packageRoot, 'schema.graphql'), ...sources],
    ['graphql-codegen', '--config', 'codegen.ts'],
  );
}

function makeIfStale(made, sources, command) {
  const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
  if (existsSync(made) && statSync(made).mtimeMs >= newest) return;
  runSteps([{ command }]);
  // A generator that finds nothing to change leaves the old time, and would be run again each time.
  utimesSync(made, new Date(), new Date());
}

function listFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function runPglite() {
  return { name: 'PGlite', ...(await runVitest({ BUTLER_TEST_ENGINE: 'pglite' })) };
}

async function runPostgres() {
  const name = 'PostgreSQL';
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? { url: given, stop: () => undefined } : startPostgres();
  // Who asks for this half alone gets it or an error.
  if (server.failed !== undefined) {
    return { name, skippedBecause: server.failed, ...nothing, failed: engines.length === 1 ? 1 : 0 };
  }
  try {
    return { name, ...(await runVitest({ BUTLER_TEST_ENGINE: 'postgres', TEST_DATABASE_URL: server.url })) };
  } finally {
    server.stop();
  }
}

/**
 * The directory stays, so that pgvector is compiled once and later starts take a second. Each holds one server, and
 * two runs at a time must not share one that the first to end would stop: hence a few of them, each with its holder.
 */
function startPostgres() {
  if (process.platform === 'win32') return { failed: 'set TEST_DATABASE_URL: a server can only be started on Linux' };
  const slot = claimSlot();
  if (slot === undefined) return { failed: `${slots} other test runs hold a server each` };
  // What a run that was killed has left behind.
  runPostgresScript('stop', slot.directory);
  const { status, stdout, stderr } = runPostgresScript('start', slot.directory);
  const url = /^DATABASE_URL=(.*)$/m.exec(stdout)?.[1];
  if (status !== 0 || url === undefined) {
    slot.release();
    return {
      failed:
        stderr
          ?.trim()
          .split('\n')
          .at(-1)
          ?.replace(/^[a-z-]+: /, '') || `${postgresScript} ended with code ${status}`,
    };
  }
  const stop = () => {
    process.off('exit', stop);
    runPostgresScript('stop', slot.directory);
    slot.release();
  };
  process.on('exit', stop);
  return { url, stop };
}

/** In a session of its own: a Ctrl-C at the terminal must not end the server before the tests. */
function runPostgresScript(action, directory) {
  const options = { detached: true, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  return spawnSync('sh', [postgresScript, action, directory], options);
}

function claimSlot() {
  const home = join(tmpdir(), `butler-memory-postgres-${userInfo().uid}`);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  if (statSync(home).uid !== userInfo().uid) return undefined;
  for (let number = 1; number <= slots; number++) {
    const directory = join(home, String(number));
    const holder = `${directory}.pid`;
    if (claim(holder)) return { directory, release: () => rmSync(holder, { force: true }) };
  }
  return undefined;
}

function claim(holder) {
  try {
    writeFileSync(holder, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (isAlive(Number(readFileSync(holder, 'utf8')))) return false;
  rmSync(holder, { force: true });
  return claim(holder);
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function runVitest(environment) {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const directory = mkdtempSync(join(testDirectory(), 'butler-memory-test-'));
  const file = join(directory, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  child = spawn(process.execPath, [vitest, 'run', ...reporters, ...vitestArguments], {
    cwd: packageRoot,
    env: { ...process.env, ...environment, BUTLER_TEST_DIRECTORY: directory },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  child = undefined;
  const counts = countResults(file, code);
  rmSync(directory, { recursive: true, force: true });
  return counts;
}

/**
 * Where a run of the tests keeps its databases: in memory where there is plenty of it, as a database is 450 small files
 * and some disks take half a second to create those. Containers often have 64 MB there, which is too little.
 */
function testDirectory() {
  try {
    accessSync(sharedMemory, access.W_OK);
    const { bavail, bsize } = statfsSync(sharedMemory);
    return bavail * bsize >= enoughBytes ? sharedMemory : tmpdir();
  } catch {
    return tmpdir(); // No such directory: not Linux.
  }
}

/** A file that cannot be loaded has no tests to count, and an error outside every test none either: one each. */
function countResults(file, code) {
  if (!existsSync(file)) return { ...nothing, failed: code === 0 ? 0 : 1 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = numFailedTests + broken.length;
  return {
    passed: numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
  };
}

function report(halves) {
  const total = { ...nothing };
  console.log();
  for (const { name, skippedBecause, ...counts } of halves) {
    console.log(
      skippedBecause === undefined ? `${name}: ${inWords(counts)}` : `${name} half SKIPPED: ${skippedBecause}`,
    );
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
  if (interruptedBy !== undefined) console.log(`Interrupted by ${interruptedBy}`);
  console.log(inWords(total));
  if (interruptedBy !== undefined) return 128 + constants.signals[interruptedBy];
  return total.failed === 0 ? 0 : 1;
}

function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
