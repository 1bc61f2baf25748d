// `npm test`: every test, on the embedded database and on PostgreSQL; exhaustive ones in their short form.
//   node scripts/test.mjs [--engine pglite|postgres] [--drills | --all] [--slowest] [arguments for vitest, such as a file filter]
// --drills runs the exhaustive tests in their long form, --all the one after the other. --slowest lists the files that
// keep a processor busy longest, and how long a phase did in all.
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
import { parseArgs } from 'node:util';
import { buildForTests, root as packageRoot, runSteps } from './run.mjs';

const postgresScript = join(packageRoot, 'scripts', 'postgres-for-tests.sh');
const slots = 8;
const sharedMemory = '/dev/shm';
const enoughBytes = 4 * 1024 ** 3;
const nothing = { passed: 0, failed: 0, skipped: 0 };
const projectNames = { 'no database': 'Without a database', pglite: 'PGlite', postgres: 'PostgreSQL' };

const { engines, phases, isSlowestWanted, vitestArguments } = readArguments(process.argv.slice(2));
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
  buildForTests();
  const server = engines.includes('postgres') ? findPostgres() : {};
  // With --engine postgres, a missing PostgreSQL is an error.
  const isRequired = engines.length === 1;
  const available = server.failed === undefined ? engines : engines.filter((engine) => engine !== 'postgres');
  const results = [];
  try {
    for (const phase of phases) {
      if (available.length > 0 && interruptedBy === undefined) results.push(await runPhase(phase, available, server));
    }
  } finally {
    server.stop?.();
  }
  return report(results, server.failed, isRequired);
}

function readArguments(given) {
  const own = {
    engine: { type: 'string' },
    drills: { type: 'boolean' },
    all: { type: 'boolean' },
    slowest: { type: 'boolean' },
  };
  const { tokens } = parseArgs({ args: given, options: own, strict: false, allowPositionals: true, tokens: true });
  const mine = tokens.filter(({ kind, name }) => kind === 'option' && Object.hasOwn(own, name));
  const isGiven = (name) => mine.some((token) => token.name === name);
  const engine = mine.find(({ name }) => name === 'engine');
  if (engine !== undefined && engine.value !== 'pglite' && engine.value !== 'postgres') {
    console.error(`--engine must be pglite or postgres (got ${engine.value ?? 'nothing'})`);
    process.exit(2);
  }
  const used = new Set(
    mine.flatMap(({ index, name, inlineValue }) => (name === 'engine' && !inlineValue ? [index, index + 1] : [index])),
  );
  return {
    engines: engine === undefined ? ['pglite', 'postgres'] : [engine.value],
    phases: isGiven('all') ? ['tests', 'drills'] : [isGiven('drills') ? 'drills' : 'tests'],
    isSlowestWanted: isGiven('slowest'),
    vitestArguments: given.filter((_, index) => !used.has(index)),
  };
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
  runSteps([{ command, isQuiet: true }]);
  // A generator that finds nothing to change leaves the old time, and would be run again each time.
  utimesSync(made, new Date(), new Date());
}

function listFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function findPostgres() {
  const url = process.env.TEST_DATABASE_URL;
  return url ? { url } : startPostgres();
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
  return { url, stop, directory: slot.directory };
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

/** All engines in one run of vitest: no core is idle while the last file of one of them ends. */
async function runPhase(phase, available, { url: databaseUrl, directory: serverDirectory }) {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const directory = mkdtempSync(join(testDirectory(), 'butler-memory-test-'));
  const resultsFile = join(directory, 'results.json');
  const startedAt = Date.now();
  const cpuSeconds = readCpu(serverDirectory);
  child = spawn(process.execPath, [vitest, 'run', ...vitestArguments], {
    cwd: packageRoot,
    env: {
      ...process.env,
      BUTLER_TEST_ENGINES: available.join(','),
      BUTLER_TEST_DRILLS: phase === 'drills' ? '1' : '0',
      BUTLER_TEST_DIRECTORY: directory,
      BUTLER_TEST_RESULTS: resultsFile,
      ...(databaseUrl !== undefined && { TEST_DATABASE_URL: databaseUrl }),
    },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  child = undefined;
  const results = readResults(resultsFile, code);
  rmSync(directory, { recursive: true, force: true });
  return { phase, seconds: Math.round((Date.now() - startedAt) / 1000), cpuSeconds: cpuSeconds(), ...results };
}

/** Begins to count; what it returns says the seconds since. Linux only. */
function readCpu(serverDirectory) {
  const ticksPerSecond = 100;
  const ticksOf = (pid) => {
    try {
      // The name of the program, in brackets, may hold spaces. Fields 14 to 17: its own time, and of children that ended.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    } catch {
      return 0;
    }
  };
  const postmaster = () => {
    const data = serverDirectory && readdirSync(serverDirectory).find((name) => name.startsWith('data-'));
    return data ? readFileSync(join(serverDirectory, data, 'postmaster.pid'), 'utf8').split('\n')[0] : undefined;
  };
  const now = () => ({ processes: ticksOf('self'), postgres: ticksOf(postmaster()) });
  const before = now();
  return () => {
    const after = now();
    const since = (name) => Math.round((after[name] - before[name]) / ticksPerSecond);
    return { processes: since('processes'), postgres: since('postgres') };
  };
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

/** Errors outside every test are failures too, and so is a run that ends without results. */
function readResults(file, code) {
  const { projects = {}, errors = 0, files = [] } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const failed = Object.values(projects).reduce((sum, counts) => sum + counts.failed, errors);
  return { projects, errors: failed === 0 && code !== 0 ? 1 : errors, files };
}

function report(results, postgresFailure, isPostgresRequired) {
  const total = { ...nothing };
  const add = (counts) => {
    for (const key of Object.keys(total)) total[key] += counts[key] ?? 0;
  };
  console.log();
  for (const { phase, seconds, projects, errors, files, cpuSeconds } of results) {
    if (isSlowestWanted) printSlowest(files, cpuSeconds);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} minutes`;
    console.log(`${phase === 'drills' ? 'Drills' : 'Tests'}, ${time}`);
    for (const [name, counts] of Object.entries(projects)) {
      console.log(`  ${projectNames[name]}: ${inWords(counts)}`);
      add(counts);
    }
    if (errors > 0) console.log(`  Outside every test: ${inWords({ ...nothing, failed: errors })}`);
    add({ failed: errors });
  }
  if (postgresFailure !== undefined) {
    console.log(`PostgreSQL half SKIPPED: ${postgresFailure}`);
    add({ failed: isPostgresRequired ? 1 : 0 });
  }
  if (interruptedBy !== undefined) console.log(`Interrupted by ${interruptedBy}`);
  console.log(inWords(total));
  if (interruptedBy !== undefined) return 128 + constants.signals[interruptedBy];
  return total.failed === 0 ? 0 : 1;
}

function printSlowest(files, cpuSeconds) {
  const inSeconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1).padStart(7)} s`;
  console.log(' CPU time   duration');
  const slowest = files.toSorted((one, other) => other.cpuMilliseconds - one.cpuMilliseconds).slice(0, 40);
  for (const { milliseconds, cpuMilliseconds, project, file } of slowest) {
    console.log(`${inSeconds(cpuMilliseconds)}  ${inSeconds(milliseconds)}  ${file} (${project})`);
  }
  const { processes, postgres } = cpuSeconds;
  console.log(`CPU time ${processes} s${postgres > 0 ? `, of PostgreSQL ${postgres} s` : ''}`);
}

function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
