import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import type { Extraction } from '../../../src/lifecycle/consolidation/engine.ts';
import { createCommandEngine } from '../../../src/lifecycle/consolidation/engines/command.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { claimOf, consolidationConfig, failureOf, neverAborted } from './setup.ts';

let core: TestCore;
let directory: string;
beforeAll(async () => {
  core = await createTestCore();
  directory = await mkdtemp(join(tmpdir(), 'butler-command-'));
});
afterAll(async () => {
  await core.close();
  await rm(directory, { recursive: true, force: true });
});

afterEach(() => void vi.useRealTimers());

type CommandSettings = Config['memory']['consolidation']['command'];

/** A program that is a few lines of JavaScript; what follows are its arguments. */
const node = (script: string, ...commandArguments: string[]): string[] => [
  process.execPath,
  '--input-type=commonjs',
  '-e',
  script,
  ...commandArguments,
];

interface Run {
  settings?: Partial<CommandSettings>;
  signal?: AbortSignal;
  environment?: NodeJS.ProcessEnv;
  lines?: string[];
}

function extract(command: string[], { settings, signal, environment, lines }: Run = {}): Promise<Extraction> {
  const config = consolidationConfig({ engine: 'command', command: { command, ...settings } });
  const logger = lines === undefined ? core.logger : pino({ base: null }, { write: (line) => lines.push(line) });
  const context = { ...core.context({ role: 'admin' }), config, logger };
  const claim = { ...claimOf(['Anna moved to Lisbon last spring'], 'command'), runId: run };
  return createCommandEngine(config, environment).extract(context, claim, signal ?? neverAborted);
}

const run = '019cc0de-0000-7000-8000-00000000abcd';
const echo = `let text = ''; process.stdin.on('data', (piece) => (text += piece)).on('end', () => `;
const answerWith = (expression: string): string => `${echo} process.stdout.write(JSON.stringify(${expression})));`;

describe('a program that answers', () => {
  it('gets instructions and episodes as its input, and its output is the answer', async () => {
    const script = answerWith(
      `{ new_facts: [], saw: [text.includes('Anna moved to Lisbon'), text.includes('# Evidence')] }`,
    );
    const extraction = await extract(node(script));
    expect(JSON.parse(extraction.output as string)).toEqual({ new_facts: [], saw: [true, true] });
    expect(extraction.episodeIds).toHaveLength(1);
  });

  it('gets its arguments as they are: no shell reads them', async () => {
    const given = ['$HOME', '; echo no', '`id`', '"quoted" *'];
    const { output } = await extract(node('process.stdout.write(JSON.stringify(process.argv.slice(1)))', ...given));
    expect(JSON.parse(output as string)).toEqual(given);
  });

  it('gets of the environment what it is granted, and the run that it works for', async () => {
    const environment = {
      PATH: process.env.PATH,
      HOME: '/home/someone',
      DATABASE_URL: 'postgres://u:p@h/d',
      BUTLER_MEMORY_LLM_API_KEY: 'sk-1',
      AGENT_TOKEN: 'granted',
    };
    const settings = { environment: ['AGENT_TOKEN', 'NOT_THERE'] };
    const { output } = await extract(node('process.stdout.write(JSON.stringify(process.env))'), {
      settings,
      environment,
    });
    expect(JSON.parse(output as string)).toEqual({
      PATH: process.env.PATH,
      HOME: '/home/someone',
      AGENT_TOKEN: 'granted',
      BUTLER_MEMORY_MAINTENANCE_RUN: run,
    });
  });

  it('may leave its input unread', async () => {
    const { output } = await extract(node(`process.stdin.destroy(); process.stdout.write('{"new_facts":[]}')`));
    expect(output).toBe('{"new_facts":[]}');
  });

  it('has what it writes to its standard error logged: the end of it, without texts and secrets', async () => {
    const lines: string[] = [];
    const script = `process.stderr.write('x'.repeat(5000) + '\\n\\x1b[31m' + process.env.AGENT_TOKEN + ' Anna moved to Lisbon last spring');
      process.stdout.write('{"new_facts":[]}')`;
    const environment = { PATH: process.env.PATH, AGENT_TOKEN: 'very-secret-token' };
    await extract(node(script), { lines, environment, settings: { environment: ['AGENT_TOKEN'] } });
    expect(lines).toHaveLength(1);
    const logged = JSON.parse(lines[0] ?? '{}') as { errors: string; runId: string };
    expect(logged.runId).toBe(run);
    expect(logged.errors.length).toBeLessThan(1100);
    expect(logged.errors).not.toMatch(/very-secret-token|Lisbon/);
  });
});

describe('a program that fails', () => {
  it.each([
    ['exit code 3', 'process.exit(3)', false],
    ['exit code 78', 'process.exit(78)', true],
    ['exit code 75', 'process.exit(75)', true],
    ['signal SIGTERM', `process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 60000)`, false],
  ])('with %s has failed, whatever it wrote', async (how, script, isUnavailable) => {
    const error = await failureOf(extract(node(`process.stdout.write('{"new_facts":[]}'); ${script}`)));
    expect(error).toMatchObject({ retryable: true, isUnavailable });
    expect(error.message).toBe(`the command ended with ${how}`);
  });

  it('as it is not there is set up wrongly, which is not the fault of the episodes', async () => {
    const error = await failureOf(extract(['butler-memory-no-such-program']));
    expect(error).toMatchObject({ retryable: true, isUnavailable: true });
    expect(error.message).toBe('the command could not be started (ENOENT)');
  });

  it('as none is set is an obstacle before anything is claimed', async () => {
    const config = consolidationConfig({ engine: 'command' });
    const obstacle = await createCommandEngine(config).findObstacle?.({ ...core.context(), config });
    expect(obstacle).toBe('butler.memory.consolidation.command.command is not set');
  });

  it('to end in time is ended, and with it what it has started', async () => {
    const file = join(directory, 'timeout.pid');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const extraction = failureOf(extract(node(parentOfAnother, file), { settings: { timeoutSeconds: 1 } }));
    await expect.poll(() => existsSync(file)).toBe(true);
    vi.advanceTimersByTime(1000);
    const error = await extraction;
    expect(error).toMatchObject({ retryable: true, isUnavailable: false });
    expect(error.message).toBe('the command did not end within 1 s (timeout_seconds)');
    await expectEnded(file);
  });

  it('as the run ends is ended, and with it what it has started', async () => {
    const file = join(directory, 'abort.pid');
    const controller = new AbortController();
    const extraction = failureOf(extract(node(parentOfAnother, file), { signal: controller.signal }));
    await expect.poll(() => existsSync(file)).toBe(true);
    controller.abort();
    expect((await extraction).message).toBe('the command was ended, as the run ended');
    await expectEnded(file);
  });

  it('as the run has ended before is not started', async () => {
    const file = join(directory, 'never.pid');
    const error = await failureOf(extract(node(parentOfAnother, file), { signal: AbortSignal.abort() }));
    expect(error.message).toBe('the command was ended, as the run ended');
    expect(existsSync(file)).toBe(false);
  });

  it('to stop writing is ended', async () => {
    const endless = `const write = () => { while (process.stdout.write('x'.repeat(65536))); process.stdout.once('drain', write) }; write()`;
    const error = await failureOf(extract(node(endless), { settings: { maxOutputBytes: 100_000 } }));
    expect(error.message).toBe('the command wrote more than 100000 bytes (max_output_bytes)');
  });

  it('to end what it started does not keep us waiting for that', async () => {
    const file = join(directory, 'orphan.pid');
    const script = `${startAnother} another.unref(); process.stdout.write('{"new_facts":[]}', () => process.exit(0))`;
    expect((await extract(node(script, file))).output).toBe('{"new_facts":[]}');
    await expectEnded(file);
  });
});

/** Starts a process that would live on, ignores polite requests and holds the output open; leaves its id in a file. */
const startAnother = `
  const another = require('node:child_process').spawn(process.execPath,
    ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: 'inherit' });
  require('node:fs').writeFileSync(process.argv[1], String(another.pid));`;

const parentOfAnother = `${startAnother} setInterval(() => {}, 1000)`;

async function expectEnded(file: string): Promise<void> {
  const processId = Number(await readFile(file, 'utf8'));
  await expect.poll(() => isRunning(processId)).toBe(false);
}

/** A process that has ended and that nobody has waited for yet has ended too. */
async function isRunning(processId: number): Promise<boolean> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => null);
  if (stat !== null) return !/^\d+ \(.*\) [ZX]/s.test(stat);
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}
