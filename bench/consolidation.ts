import type { MemoryCore } from '../src/create-memory.ts';
import { createTenantContext, type MemoryContext } from '../src/memory/context.ts';
import { createEngine } from '../src/lifecycle/consolidation/engines/create-engine.ts';
import type { ConsolidationEngine } from '../src/lifecycle/consolidation/engine.ts';
import { milliseconds, type Benchmark, type Figure } from './benchmark.ts';
import { withEmbeddedCore } from './own-embedded-core.ts';
import {
  addShares,
  describeShare,
  listItems,
  precisionOf,
  readJudged,
  readSet,
  recallOf,
  scoreText,
  test,
  type ForeignText,
  type Half,
  type Item,
  type LabelledText,
  type ScoredText,
  type Share,
} from './quality/consolidation/score.ts';
import { propose } from './quality/consolidation/propose.ts';
import { listSpanItems, readSessions, scoreSession, type SpanScore } from './quality/consolidation/spans.ts';
import { fillAgentStore, readPair, type NoteChange, type Outcome } from './quality/consolidation/stores.ts';

/** `--held-out` scores the other half; `--details` prints what was missed and what is wrong. */
const half: Half = process.argv.includes('--held-out') ? 'held-out' : 'development';
const printsDetails = process.argv.includes('--details');

export const consolidation: Benchmark = {
  question: `What does the default engine find of what a person would keep from session summaries and direct speech (bench/quality/consolidation, ${half} half)? An item that matches nothing to keep counts as wrong unless a person judged it right.`,
  measure: () => {
    let now: Date | null = null;
    const setNow = (time: Date): void => void (now = time);
    return withEmbeddedCore(
      async (core) => {
        const engine = requireEngine(core.config);
        const figures = await measure(createTenantContext(core, 'bench'), engine);
        return [...figures, ...(await measureChanges(core, engine)), ...(await measureStores(core, engine, setNow))];
      },
      { now: () => now ?? new Date() },
    );
  },
};

function requireEngine(config: MemoryContext['config']): ConsolidationEngine {
  const engine = createEngine(config);
  if (engine === undefined) throw new Error('consolidation.engine must be one that the server runs (got none)');
  return engine;
}

async function measure(context: MemoryContext, engine: ConsolidationEngine): Promise<Figure[]> {
  await extract(context, engine, 'I like tea.', '2026-01-01T00:00:00Z');
  const judged = readJudged(half);
  const scored: ScoredText[] = [];
  let took = 0;
  const texts = readSet('texts', half) as LabelledText[];
  for (const text of texts) {
    const startedAt = performance.now();
    const items = await extract(context, engine, text.content, text.observedAt);
    took += performance.now() - startedAt;
    scored.push(scoreText(text, items, judged));
  }
  if (printsDetails) for (const one of scored) printDetails(one);
  return [
    { what: 'engine', value: engine.name },
    ...figuresOf(
      'summaries',
      scored.filter(({ text }) => text.style === 'summary'),
    ),
    ...figuresOf(
      'direct speech',
      scored.filter(({ text }) => text.style === 'speech'),
    ),
    ...figuresOf('all', scored),
    { what: 'items from texts with nothing to keep', value: String(countFalseAlarms(scored)) },
    { what: 'items that match a `never` pattern', value: String(scored.flatMap((one) => one.violations).length) },
    { what: 'milliseconds an episode', value: milliseconds(took / texts.length) },
    ...(await measureSessions(context, engine)),
    ...(await measureForeign(context, engine)),
  ];
}

async function extract(
  context: MemoryContext,
  engine: ConsolidationEngine,
  content: string,
  observedAt: string,
): Promise<Item[]> {
  return listItems(await propose(context, engine, content, observedAt));
}

function figuresOf(what: string, scored: readonly ScoredText[]): Figure[] {
  const recall = { fact: recallOf(scored, 'fact'), rule: recallOf(scored, 'rule') };
  const precision = { fact: precisionOf(scored, 'fact'), rule: precisionOf(scored, 'rule') };
  return [
    { what: `${what}: recall`, value: describeShare(addShares(recall.fact, recall.rule)) },
    { what: `${what}: recall of facts`, value: describeShare(recall.fact) },
    { what: `${what}: recall of rules`, value: describeShare(recall.rule) },
    { what: `${what}: precision`, value: describeShare(addShares(precision.fact, precision.rule)) },
    { what: `${what}: precision of facts`, value: describeShare(precision.fact) },
    { what: `${what}: precision of rules`, value: describeShare(precision.rule) },
  ];
}

function countFalseAlarms(scored: readonly ScoredText[]): number {
  return scored.filter(({ text }) => text.keep.length === 0).flatMap(({ wrong }) => wrong).length;
}

async function measureForeign(context: MemoryContext, engine: ConsolidationEngine): Promise<Figure[]> {
  const texts = readSet('foreign', half) as ForeignText[];
  let held = 0;
  for (const { id, content, never } of texts) {
    const items = await extract(context, engine, content, '2026-03-10T12:00:00Z');
    const learned = items.filter(({ text }) => never.some((pattern) => test(pattern, text)));
    if (learned.length === 0) held += 1;
    else if (printsDetails) process.stdout.write(`${id} LEARNED ${learned.map(({ text }) => text).join(' / ')}\n`);
    if (printsDetails && items.length > learned.length) print(`${id} (foreign)`, 'kept', items);
  }
  return [
    {
      what: 'foreign texts from which nothing foreign is learned',
      value: describeShare({ found: held, of: texts.length }),
    },
  ];
}

/** Sessions that the judge was trained on, and those set aside. */
async function measureSessions(context: MemoryContext, engine: ConsolidationEngine): Promise<Figure[]> {
  if (half === 'held-out') return [];
  const scores: { isValidation: boolean; score: SpanScore }[] = [];
  for (const session of readSessions()) {
    const items = listSpanItems(await propose(context, engine, session.content, session.observedAt));
    scores.push({ isValidation: session.isValidation, score: scoreSession(session, items) });
  }
  return [false, true].flatMap((isValidation) => {
    const those = scores.filter((one) => one.isValidation === isValidation).map(({ score }) => score);
    const sum = (pick: (score: SpanScore) => Share): string =>
      describeShare(those.map(pick).reduce(addShares, { found: 0, of: 0 }));
    const what = isValidation ? 'sessions set aside' : 'sessions trained on';
    return [
      { what: `${what}: recall of facts`, value: sum(({ facts }) => facts) },
      { what: `${what}: recall of rules`, value: sum(({ rules }) => rules) },
      { what: `${what}: precision`, value: sum(({ precision }) => precision) },
    ];
  });
}

async function measureChanges(core: MemoryCore, engine: ConsolidationEngine): Promise<Figure[]> {
  const pairs = readSet('note-changes', half) as NoteChange[];
  const outcomes: { pair: NoteChange; outcome: Outcome }[] = [];
  for (const pair of pairs) outcomes.push({ pair, outcome: await readPair(core, engine, pair) });
  if (printsDetails)
    for (const { pair, outcome } of outcomes)
      process.stdout.write(`${pair.id} ${pair.relation} ${outcome}: ${pair.first.text} / ${pair.second.text}\n`);
  const share = (relation: NoteChange['relation'], wanted: readonly Outcome[]): string => {
    const those = outcomes.filter(({ pair }) => pair.relation === relation);
    return describeShare({ found: those.filter(({ outcome }) => wanted.includes(outcome)).length, of: those.length });
  };
  const others = outcomes.filter(({ pair }) => pair.relation !== 'changes');
  const wrongly = others.filter(({ outcome }) => outcome === 'superseded').length;
  return [
    { what: 'changed notes superseded', value: share('changes', ['superseded']) },
    { what: 'changed notes superseded or in review', value: share('changes', ['superseded', 'review']) },
    { what: 'repeated notes confirmed', value: share('repeats', ['confirmed']) },
    { what: 'other notes wrongly superseded', value: describeShare({ found: wrongly, of: others.length }) },
  ];
}

async function measureStores(
  core: MemoryCore,
  engine: ConsolidationEngine,
  setNow: (now: Date) => void,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const isWeekly of [false, true]) {
    const { created, wrong, added, unstored } = await fillAgentStore(core, engine, { half, isWeekly, setNow });
    const when = isWeekly ? 'consolidated once a week' : 'consolidated after each session';
    if (printsDetails)
      for (const text of created) process.stdout.write(`${when}: ${wrong.includes(text) ? 'WRONG ' : ''}${text}\n`);
    figures.push(
      {
        what: `agents' store, ${when}: created, of which outdated or garbled`,
        value: `${created.length}, ${wrong.length}`,
      },
      { what: `agents' store, ${when}: known of what only summaries say`, value: `${added} of ${unstored}` },
    );
  }
  return figures;
}

function printDetails({ text, items, missed, wrong, violations }: ScoredText): void {
  if (missed.length + wrong.length + violations.length === 0) return;
  process.stdout.write(`## ${text.id} ${text.style}: ${text.content}\n`);
  print(
    text.id,
    'kept',
    items.filter((item) => !wrong.includes(item)),
  );
  for (const { kind, says } of missed) process.stdout.write(`   MISSED ${kind}: ${says}\n`);
  print(text.id, 'WRONG', wrong);
  print(text.id, 'NEVER', violations);
}

function print(id: string, verdict: string, items: readonly Item[]): void {
  for (const { kind, text } of items) process.stdout.write(`   ${verdict} ${kind} ${id}: ${text}\n`);
}
