import type { MemoryCore } from '../src/create-memory.ts';
import { createEngine } from '../src/lifecycle/consolidation/engines/create-engine.ts';
import type { ConsolidationEngine } from '../src/lifecycle/consolidation/engine.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { withEmbeddedCore } from './own-embedded-core.ts';
import { describeShare, type Half } from './quality/consolidation/score.ts';
import { hasAgentCalls, readMonths, readVerdicts, type Month } from './quality/months/data.ts';
import { liveMonth, type Answered, type Clock, type Lived, type Way } from './quality/months/live.ts';

/** `--held-out` scores the months that are set aside; `--details` prints wrong answers and what was created. */
const half: Half = process.argv.includes('--held-out') ? 'held-out' : 'development';
const printsDetails = process.argv.includes('--details');

export const months: Benchmark = {
  question: `Does recall answer everyday questions after a month of session summaries, consolidated after each (bench/quality/months, ${half} half, PGlite, default model)? The first three results must hold the answer and nothing outdated. Beside it each sentence kept as a note, and the summaries beside facts that agents stored; there, what consolidation created counts as wrong unless a person judged it right.`,
  measure: () => {
    let now = new Date();
    const clock: Clock = { set: (time) => void (now = time) };
    return withEmbeddedCore((core) => measure(core, clock), { now: () => now });
  },
};

async function measure(core: MemoryCore, clock: Clock): Promise<Figure[]> {
  const engine = createEngine(core.config);
  if (engine === undefined) throw new Error('consolidation.engine must be one that the server runs (got none)');
  const all = readMonths(half);
  const figures: Figure[] = [{ what: 'months, sessions, questions', value: describeMonths(all) }];
  for (const way of ['summaries', 'naive', 'agents'] as const)
    figures.push(
      ...(await measureWay(core, engine, { way, clock, all: way === 'agents' ? all.filter(hasAgentCalls) : all })),
    );
  return figures;
}

const names: Record<Way, string> = {
  summaries: 'summaries, consolidated',
  naive: 'each sentence kept as a note',
  agents: 'summaries beside facts of agents',
};

async function measureWay(
  core: MemoryCore,
  engine: ConsolidationEngine,
  { way, clock, all }: { way: Way; clock: Clock; all: readonly Month[] },
): Promise<Figure[]> {
  const lived: Lived[] = [];
  for (const month of all) {
    const one = await liveMonth(core, engine, month, { way, clock });
    if (printsDetails) printDetails(month, way, one);
    lived.push(one);
  }
  const figures = figuresOf(
    names[way],
    lived.flatMap(({ answers }) => answers),
  );
  return way === 'agents' ? [...figures, createdFigure(all, lived)] : figures;
}

function describeMonths(all: readonly Month[]): string {
  const count = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);
  const sessions = count(all.map(({ episodes }) => episodes.length));
  return `${all.length}, ${sessions}, ${count(all.map(({ questions }) => questions.length))}`;
}

function figuresOf(what: string, answers: readonly Answered[]): Figure[] {
  const share = (isMeant: (answer: Answered) => boolean): string => {
    const meant = answers.filter(isMeant);
    return describeShare({ found: meant.filter(({ isRight }) => isRight).length, of: meant.length });
  };
  const outdated = answers.filter(({ isOutdated }) => isOutdated).length;
  return [
    { what: `${what}: right answers in the first three`, value: share(({ kind }) => !isUnanswerable(kind)) },
    { what: `${what}: outdated among the first three`, value: describeShare({ found: outdated, of: answers.length }) },
    { what: `${what}: unrelated questions told as unknown`, value: share(({ kind }) => kind === 'unrelated') },
    { what: `${what}: near questions told as unknown`, value: share(({ kind }) => kind === 'near') },
  ];
}

function isUnanswerable(kind: string): boolean {
  return kind === 'unrelated' || kind === 'near';
}

function createdFigure(all: readonly Month[], lived: readonly Lived[]): Figure {
  const verdicts = readVerdicts(half);
  const counts = { right: 0, outdated: 0, garbled: 0, duplicate: 0, unjudged: 0 };
  for (const [place, { created }] of lived.entries()) {
    const ofMonth = verdicts[all[place]?.name ?? ''] ?? {};
    for (const text of created) counts[ofMonth[text] ?? 'unjudged']++;
  }
  const value = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  return { what: `${names.agents}: created by consolidation`, value: value.join(', ') };
}

function printDetails({ name }: Month, way: Way, { answers, created }: Lived): void {
  for (const { id, kind, question, answer, isRight, best } of answers) {
    if (isRight) continue;
    const kept = best === null ? 'not kept' : `at ${best.place}, ${best.relevance.toFixed(2)}: ${best.text}`;
    process.stdout.write(
      `${name} ${way} ${id} ${kind}: ${question}\n${answer.replace(/^/gm, '     ')}\n  -> ${kept}\n`,
    );
  }
  for (const text of created) process.stdout.write(`${name} ${way} CREATED ${text}\n`);
}
