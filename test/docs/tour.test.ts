import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../src/shared/package-root.ts';
import { createTourist, normalise, readSteps, type Tourist } from './tour.ts';

const steps = readSteps(readFileSync(join(packageRoot, 'docs', 'tour.md'), 'utf8'));
let directory: string;
let tourist: Tourist;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'butler-memory-tour-'));
  tourist = createTourist(join(directory, 'home'), directory, await findFreePort());
});
afterAll(async () => {
  await tourist.close();
  await rm(directory, { recursive: true, force: true });
});

it('every command of docs/tour.md prints what the page says', async () => {
  expect(steps.length).toBeGreaterThan(20);
  for (const { command, output } of steps) {
    expect({ command, output: normalise(await tourist.run(command)) }).toEqual({ command, output: normalise(output) });
  }
});

it('reads commands over several lines, with their output', () => {
  const page = 'Text.\n\n```console\n$ one \\\n    two\nfirst\n\nsecond\n$ three\n```\n\n```sh\n$ not this\n```\n';

  expect(readSteps(page)).toEqual([
    { command: 'one \\\n    two', output: 'first\n\nsecond\n' },
    { command: 'three', output: '' },
  ]);
});

it('ignores ids, times and scores, and nothing else', () => {
  const line = 'fact 01a1ed85-cbce-728c-ab68-e1f6ab157db8 (0.850) at 2026-11-25T07:18:49.758Z: soba';

  expect(normalise(line)).toBe('fact <id> (<score>) at <time>: soba');
  expect(normalise(line.replace('soba', 'udon'))).not.toBe(normalise(line));
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
