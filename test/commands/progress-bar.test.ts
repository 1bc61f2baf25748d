import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import type { SweepOptions } from '../../src/lifecycle/sweep.ts';
import { withProgressBar, type Terminal } from '../../src/commands/progress-bar.ts';

/** What a terminal is given to show, without the codes that move its cursor. */
async function shown(told: readonly [number, number | null][], isTTY = true): Promise<string> {
  let text = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const terminal: Terminal = Object.assign(stream, { isTTY, columns: 120 });
  const work = async (progress: NonNullable<SweepOptions['progress']>): Promise<string> => {
    for (const [done, total] of told) progress(done, total);
    return 'done';
  };
  expect(await withProgressBar(terminal, 'house', work)).toBe('done');
  // oxlint-disable-next-line no-control-regex -- these are what is left out
  return text.replace(/\u001B(?:\[[?\d;]*[A-Za-z]|[78])/g, '\n');
}

it('shows a bar with how much is done, out of how much', async () => {
  const text = await shown([
    [3, 12],
    [12, 12],
  ]);
  expect(text).toMatch(/house \[█+░+\] 3\/12 25% ETA/);
  expect(text).toMatch(/house \[█+\] 12\/12 100% ETA/);
});

it('goes on when the total grows', async () => {
  const text = await shown([
    [5, 10],
    [15, 20],
  ]);
  expect(text).toMatch(/15\/20 75%/);
});

it('counts where nobody knows how much there is', async () => {
  const text = await shown([
    [20_000, null],
    [41_000, null],
  ]);
  expect(text).toContain('house: 20000 done');
  expect(text).toContain('house: 41000 done');
  expect(text).not.toContain('[');
});

it('shows nothing where nobody looks, and nothing of work that told nothing', async () => {
  expect(await shown([[3, 12]], false)).toBe('');
  expect(await shown([])).toBe('');
});
