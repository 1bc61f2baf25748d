// npm run bench [name …]: runs the benchmarks, prints their figures and keeps them in bench/RESULTS.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/shared/package-root.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { claim } from './claim.ts';
import { consolidation } from './consolidation.ts';
import { decay } from './decay.ts';
import { dialogues } from './dialogues.ts';
import { eventLoop } from './event-loop.ts';
import { fairness } from './fairness.ts';
import { fleet } from './fleet.ts';
import { latency } from './latency.ts';
import { load } from './load.ts';
import { memory } from './memory.ts';
import { months } from './months.ts';
import { pairs } from './pairs.ts';
import { quality } from './quality.ts';
import { recall } from './recall.ts';
import { redaction } from './redaction.ts';
import { reembed } from './reembed.ts';
import { roundTrips } from './round-trips.ts';
import { startUp } from './start-up.ts';
import { statebench } from './statebench.ts';
import { tenSentences } from './ten-sentences.ts';

const benchmarks: Record<string, Benchmark> = {
  claim,
  consolidation,
  decay,
  dialogues,
  'event-loop': eventLoop,
  fairness,
  fleet,
  latency,
  load,
  memory,
  months,
  pairs,
  quality,
  recall,
  redaction,
  reembed,
  'round-trips': roundTrips,
  'start-up': startUp,
  statebench,
  'ten-sentences': tenSentences,
};

/** What starts with -- is an option that the benchmark itself reads. */
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const unknown = wanted.filter((name) => !(name in benchmarks));
if (unknown.length > 0)
  throw new Error(`benchmark must be one of ${Object.keys(benchmarks).join(', ')} (got ${unknown.join(', ')})`);

const file = join(packageRoot, 'bench', 'RESULTS.md');
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`${name}: ${benchmark.question}\n`);
  const figures = await benchmark.measure();
  for (const { what, value } of figures) process.stdout.write(`  ${what}: ${value}\n`);
  keep(name, benchmark, figures);
}

function keep(name: string, benchmark: Benchmark, figures: Figure[]): void {
  const section = [`## ${name}`, benchmark.question, machine(), table(figures)].join('\n\n');
  const [head = '', ...sections] = readFileSync(file, 'utf8')
    .trimEnd()
    .split(/\n\n(?=## )/);
  const others = sections.filter((text) => !text.startsWith(`## ${name}\n`));
  writeFileSync(file, `${[head, ...[...others, section].toSorted()].join('\n\n')}\n`);
}

function machine(): string {
  const cores = cpus();
  const size = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Node ${process.version}, ${platform()} ${arch()}, ${cores.length} cores (${cores[0]?.model.trim() ?? 'unknown'}), ${size}.`;
}

function table(figures: Figure[]): string {
  return ['| figure | value |', '| --- | --- |', ...figures.map(({ what, value }) => `| ${what} | ${value} |`)].join(
    '\n',
  );
}
