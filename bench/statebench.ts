import { readFile } from 'node:fs/promises';
import type { MemoryCore } from '../src/create-memory.ts';
import { consolidateWith } from '../src/lifecycle/consolidation/consolidate.ts';
import type { ConsolidationEngine } from '../src/lifecycle/consolidation/engine.ts';
import { createEngine } from '../src/lifecycle/consolidation/engines/create-engine.ts';
import { createTenantContext, type MemoryContext } from '../src/memory/context.ts';
import { storeEpisode } from '../src/memory/episodes/episodes.ts';
import { storeFact } from '../src/memory/facts/facts.ts';
import { buildContext } from '../src/retrieval/context/context.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { withEmbeddedCore } from './own-embedded-core.ts';

interface Write {
  id: string;
  key: string;
  value: unknown;
  layer?: string;
  supersedes?: string;
}

/** A line of the data set: what is said and written, and what a context must and must not hold. */
interface Timeline {
  id: string;
  domain: string;
  track: string;
  initial_state?: { persistent_facts?: Write[] };
  events: {
    type: string;
    speaker?: string;
    text?: string;
    writes?: Write[];
    prompt?: string;
    ground_truth?: { must_mention?: Phrase[]; must_not_mention?: Phrase[] };
  }[];
}

type Phrase = string | { phrase?: string; text?: string; value?: string };

interface Score {
  id: string;
  must: number;
  mentioned: number;
  forbidden: number;
  present: string[];
}

const track = 'supersession';
const butler = 'home';

export const statebench: Benchmark = {
  question:
    'How often does a context hold a string that was superseded, on the supersession track of StateBench with its turns as episodes, as they are and consolidated before each question? (BENCH_STATEBENCH names a file of timelines, one a line, which is not part of this repository; embedded database, default model)',
  measure: async () => {
    const file = process.env['BENCH_STATEBENCH'];
    if (file === undefined) return [{ what: 'not measured', value: 'BENCH_STATEBENCH is not set' }];
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const timelines = lines.map((line) => JSON.parse(line) as Timeline).filter((one) => one.track === track);
    return withEmbeddedCore((core) => measure(core, timelines));
  },
};

async function measure(core: MemoryCore, timelines: readonly Timeline[]): Promise<Figure[]> {
  const engine = createEngine(core.config) ?? null;
  const figures: Figure[] = [];
  for (const [name, used] of [
    ['as they are', null],
    ['consolidated', engine],
  ] as const) {
    const scores: Score[] = [];
    for (const timeline of timelines) {
      scores.push(...(await replay(createTenantContext(core, `${timeline.id} ${name}`), timeline, used)));
    }
    if (process.argv.includes('--details')) printPresent(name, scores);
    figures.push(...figuresOf(name, scores));
  }
  return figures;
}

async function replay(
  context: MemoryContext,
  timeline: Timeline,
  engine: ConsolidationEngine | null,
): Promise<Score[]> {
  const roots = new Map<string, string>();
  const scores: Score[] = [];
  const store = async (write: Write): Promise<void> => {
    const predicate = roots.get(write.supersedes ?? '') ?? roots.get(write.key) ?? write.key;
    roots.set(write.key, predicate).set(write.id, predicate);
    const subject = timeline.domain === '' ? 'user' : timeline.domain;
    await storeFact(context, { subject, predicate, content: String(write.value), scope: butler, sourceButler: butler });
  };
  for (const write of timeline.initial_state?.persistent_facts ?? []) await store(write);
  for (const event of timeline.events) {
    if (event.type === 'conversation_turn') {
      await storeEpisode(context, { butler, content: `${event.speaker ?? ''}: ${event.text ?? ''}` });
    }
    for (const write of event.writes ?? []) {
      if (write.layer === 'persistent_facts' || write.layer === 'working_set') await store(write);
    }
    if (event.type !== 'query') continue;
    if (engine !== null) await consolidateWith(context, engine, {});
    const { text } = await buildContext(context, { butler, triggerPrompt: event.prompt ?? '' });
    scores.push({ id: timeline.id, ...scoreText(text.toLowerCase(), event.ground_truth ?? {}) });
  }
  return scores;
}

function scoreText(
  text: string,
  { must_mention: must = [], must_not_mention: mustNot = [] }: NonNullable<Timeline['events'][number]['ground_truth']>,
): Omit<Score, 'id'> {
  const has = (phrase: string): boolean => text.includes(phrase.toLowerCase());
  const [wanted, forbidden] = [must.flatMap(phraseOf), mustNot.flatMap(phraseOf)];
  return {
    must: wanted.length,
    mentioned: wanted.filter(has).length,
    forbidden: forbidden.length,
    present: forbidden.filter(has),
  };
}

function phraseOf(given: Phrase): string[] {
  const phrase = typeof given === 'string' ? given : (given.phrase ?? given.text ?? given.value ?? '');
  return phrase === '' ? [] : [phrase];
}

function figuresOf(name: string, scores: readonly Score[]): Figure[] {
  const asked = scores.filter(({ forbidden }) => forbidden > 0);
  const wanted = scores.filter(({ must }) => must > 0);
  const wrong = asked.filter(({ present }) => present.length > 0).length;
  const coverage = wanted.reduce((sum, { must, mentioned }) => sum + mentioned / must, 0) / wanted.length;
  return [
    { what: `${name}: contexts with a superseded string`, value: `${wrong} of ${asked.length}` },
    { what: `${name}: share of what must be mentioned`, value: coverage.toFixed(3) },
  ];
}

function printPresent(name: string, scores: readonly Score[]): void {
  for (const { id, present } of scores) {
    if (present.length > 0) process.stdout.write(`${name} ${id}: ${present.join(', ')}\n`);
  }
}
