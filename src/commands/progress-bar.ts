import { Presets, SingleBar } from 'cli-progress';
import type { SweepOptions } from '../lifecycle/sweep.ts';

type Progress = NonNullable<SweepOptions['progress']>;

/** What a bar is drawn on: standard error, or whatever a test looks at. */
export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * Shows how far the work is, once it tells. Of work that does not know how much there is, how much was done. Only where
 * somebody looks: a log needs no bar.
 */
export async function withProgressBar<T>(
  terminal: Terminal,
  label: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  let bar: SingleBar | undefined;
  const show: Progress = (done, total) => {
    if (bar === undefined) {
      bar = createBar(terminal, total === null ? `${label}: {value} done` : withTotal(label));
      bar.start(total ?? 0, done);
    }
    if (total !== null) bar.setTotal(total);
    bar.update(done);
  };
  try {
    return await work(terminal.isTTY === true ? show : () => undefined);
  } finally {
    bar?.stop();
  }
}

function withTotal(label: string): string {
  return `${label} [{bar}] {value}/{total} {percentage}% ETA {eta_formatted}`;
}

function createBar(stream: Terminal, format: string): SingleBar {
  return new SingleBar({ stream, format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic);
}
