// node --import tsx bench/quality/consolidation/train-judge.ts: trains the judge of the patterns engine on the development data
// and writes its weights. Prints what the judge would keep of sessions and texts that it was not trained on (five folds, and
// the sessions that are set aside).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelKey, type Embedder } from '../../../src/embedding/embedder.ts';
import {
  inputsOf,
  inThousandths,
  verdictOf,
  type Heads,
} from '../../../src/lifecycle/consolidation/engines/patterns/judge.ts';
import { joinPointing } from '../../../src/lifecycle/consolidation/engines/patterns/join.ts';
import { readEpisode, type Found } from '../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import type { Statement } from '../../../src/lifecycle/consolidation/engines/patterns/statement.ts';
import {
  asRule,
  isWorthKeeping,
  type Thresholds,
} from '../../../src/lifecycle/consolidation/engines/patterns/worth.ts';
import { packageRoot } from '../../../src/shared/package-root.ts';
import { withEmbeddedCore } from '../../own-embedded-core.ts';
import {
  addShares,
  describeShare,
  precisionOf,
  readJudged,
  readSet,
  recallOf,
  scoreText,
  type Item,
  type LabelledText,
  type Share,
} from './score.ts';
import { labelsOf, readSessions, scoreSession, type LabelledSession, type SpanItem } from './spans.ts';

interface Example {
  statement: Statement;
  keep: boolean;
  /** Null where the example says nothing about it. */
  isInstruction: boolean | null;
  fold: number;
  weight: number;
}

interface Head {
  bias: number;
  weights: number[];
}

const folds = 5;
/** The vectors of the neighbours tell less than the vector and the features of a statement. */
const penalties = { vector: 0.0003, neighbours: 0.002, features: 0.0007 };
/** Rules are few: without more weight the judge would hardly ever expect one. */
const weightOfRules = 2.5;
/** Whole sessions tell more about what is worth keeping than single sentences do. */
const weightOf = { session: 1.5, text: 1.2, sentence: 0.6 };
/** Of the vectors of the default embedding model. */
const dimensions = 384;
const day = new Date('2026-03-10T12:00:00Z');

interface Read<T> {
  text: T;
  found: Found[];
  fold: number;
}

function read<T extends { content: string; observedAt: string }>(text: T, place: number): Read<T> {
  return { text, found: readEpisode(text.content, new Date(text.observedAt)), fold: place % folds };
}

function examplesOfSentences(): Example[][] {
  const sentences = readSet('sentences', 'development') as { text: string; label: string; keep: boolean }[];
  return sentences.map(({ text, label, keep }, place) => {
    const isFirst = /\b(?:I|my|me|we|our|mine)\b/i.test(text) || !/\b(?:user|she|he|her|his)\b/i.test(text);
    const content = isFirst ? `User: ${text}` : text;
    const { found, fold } = read({ content, observedAt: day.toISOString() }, place);
    const isInstruction = keep ? label === 'instruction' : null;
    return found.map(({ statement }) => ({ statement, keep, isInstruction, fold, weight: weightOf.sentence }));
  });
}

/** Sentences that look like statements and are none: idioms, moments, irony. */
function examplesOfDecoys(): Example[][] {
  return (readSet('decoys', 'development') as string[]).map((content, place) => {
    const { found, fold } = read({ content, observedAt: day.toISOString() }, place);
    return found.map(({ statement }) => {
      return { statement, keep: false, isInstruction: null, fold, weight: weightOf.sentence };
    });
  });
}

function examplesOfText({ text, found, fold }: Read<LabelledText>): Example[] {
  const items = found.map(({ statement }) => itemOf(statement));
  const { wrong } = scoreText(
    { ...text, keep: text.keep.map((keep) => ({ ...keep, kind: 'fact' as const })) },
    items.map((item) => ({ ...item, kind: 'fact' as const })),
    readJudged('development'),
  );
  return found.map(({ statement }, at) => {
    const item = items[at] as Item;
    const isWrong = wrong.some(({ content }) => content === item.content);
    const isRule = text.keep.some(
      ({ kind, must }) => kind === 'rule' && must.every((one) => new RegExp(one, 'iu').test(item.text)),
    );
    return { statement, keep: !isWrong, isInstruction: isWrong ? null : isRule, fold, weight: weightOf.text };
  });
}

function examplesOfSession({ text, found, fold }: Read<LabelledSession>): Example[] {
  return found.map(({ statement, quote }) => {
    const kept = labelsOf({ kind: statement.says, content: statement.content, quote }, text.spans).filter(
      (label) => label !== 'no',
    );
    const isInstruction = kept.length === 0 ? null : kept.includes('rule');
    return { statement, keep: kept.length > 0, isInstruction, fold, weight: weightOf.session };
  });
}

function itemOf(statement: Statement): Item {
  const { content } = statement;
  const about = statement.says === 'fact' ? `${statement.subject} ${statement.predicate ?? 'note'} ` : '';
  return { kind: statement.says, text: about + content, content };
}

/** Logistic regression with an L2 penalty for each input, by gradient descent with momentum: deterministic. */
function train(inputs: readonly Float64Array[], labels: readonly boolean[], weights: readonly number[]): Head {
  const size = inputs[0]?.length ?? 0;
  const penalty = listPenalties(size);
  const head = new Float64Array(size + 1);
  const velocity = new Float64Array(size + 1);
  for (let step = 0; step < 500; step += 1) {
    const gradient = new Float64Array(size + 1);
    for (const [row, input] of inputs.entries()) {
      let sum = head[size] ?? 0;
      for (let at = 0; at < size; at += 1) sum += (head[at] as number) * (input[at] as number);
      const error = (1 / (1 + Math.exp(-sum)) - (labels[row] === true ? 1 : 0)) * (weights[row] ?? 1);
      for (let at = 0; at < size; at += 1) gradient[at] = (gradient[at] as number) + error * (input[at] as number);
      gradient[size] = (gradient[size] ?? 0) + error;
    }
    for (let at = 0; at <= size; at += 1) {
      const slope = (gradient[at] ?? 0) / inputs.length + (penalty[at] ?? 0) * (head[at] ?? 0);
      velocity[at] = 0.9 * (velocity[at] ?? 0) - 0.4 * slope;
      head[at] = (head[at] ?? 0) + (velocity[at] ?? 0);
    }
  }
  return { bias: head[size] ?? 0, weights: Array.from(head.subarray(0, size)) };
}

/** Of the inputs as `inputsOf` lists them; the bias has none. */
function listPenalties(size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, at) => {
    if (at < dimensions) return penalties.vector;
    return at < 3 * dimensions ? penalties.neighbours : penalties.features;
  });
}

/** Vectors are kept in a file while the reader is developed: TRAIN_CACHE names it. */
async function embed(embedder: Embedder, contents: readonly string[]): Promise<Map<string, number[]>> {
  const file = process.env['TRAIN_CACHE'];
  const known: Record<string, number[]> =
    file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number[]>) : {};
  const lacking = [...new Set(contents)].filter((content) => known[content] === undefined);
  for (let start = 0; start < lacking.length; start += 64) {
    const part = lacking.slice(start, start + 64);
    const vectors = await embedder.embed(part);
    for (const [place, content] of part.entries())
      known[content] = [...(vectors[place]?.vector ?? [])].map((value) => Number(value.toFixed(5)));
  }
  if (file !== undefined) writeFileSync(file, JSON.stringify(known));
  return new Map(Object.entries(known));
}

type InputOf = (statement: Statement) => Float64Array;

function trainOn(examples: readonly Example[], inputOf: InputOf): Heads {
  const inputs = examples.map(({ statement }) => inputOf(statement));
  const head = (isMeant: (example: Example) => boolean, weight = 1): Head =>
    train(
      inputs,
      examples.map(isMeant),
      examples.map((example) => example.weight * (isMeant(example) ? weight : 1)),
    );
  return {
    keep: head(({ keep }) => keep),
    fact: head(({ keep, isInstruction }) => keep && isInstruction !== true),
    rule: head(({ keep, isInstruction }) => keep && isInstruction === true, weightOfRules),
  };
}

/** What the engine would keep of what was read. */
function keepOf(
  { text, found }: Read<{ content: string }>,
  heads: Heads,
  inputOf: InputOf,
  limits: Thresholds,
): (SpanItem & { statement: Statement })[] {
  const judged = found.map(({ statement, quote }) => {
    const verdict = verdictOf(heads, inputOf(statement));
    const isNews = isWorthKeeping(statement, verdict, limits);
    return { statement: asRule(statement, verdict, limits), quote, isNews };
  });
  return joinPointing(judged, text.content)
    .filter(({ isNews }) => isNews)
    .map(({ statement, quote }) => ({ kind: statement.says, content: statement.content, quote, statement }));
}

const none: Share = { found: 0, of: 0 };

function describeSessions(
  sessions: readonly Read<LabelledSession>[],
  itemsOf: (one: Read<LabelledSession>) => SpanItem[],
): string {
  const scores = sessions.map((one) => scoreSession(one.text, itemsOf(one)));
  const sum = (pick: (score: (typeof scores)[number]) => Share): Share => scores.map(pick).reduce(addShares, none);
  const recall = sum(({ facts, rules }) => addShares(facts, rules));
  const [facts, rules] = [sum(({ facts: one }) => one), sum(({ rules: one }) => one)];
  return `recall ${describeShare(recall)}, facts ${describeShare(facts)}, rules ${describeShare(rules)}, precision ${describeShare(sum(({ precision }) => precision))}`;
}

function describeTexts(
  texts: readonly Read<LabelledText>[],
  itemsOf: (one: Read<LabelledText>) => (SpanItem & { statement: Statement })[],
): string {
  const judged = readJudged('development');
  const scored = texts.map((one) =>
    scoreText(
      one.text,
      itemsOf(one).map(({ statement, kind }) => ({ ...itemOf(statement), kind })),
      judged,
    ),
  );
  const recall = addShares(recallOf(scored, 'fact'), recallOf(scored, 'rule'));
  const precision = addShares(precisionOf(scored, 'fact'), precisionOf(scored, 'rule'));
  return `recall ${describeShare(recall)}, rules ${describeShare(recallOf(scored, 'rule'))}, precision ${describeShare(precision)}`;
}

function writeWeights(model: string, { keep, fact, rule }: Heads, limits: Thresholds): void {
  const file = join(packageRoot, 'src', 'lifecycle', 'consolidation', 'engines', 'patterns', 'judge-weights.ts');
  const data = JSON.stringify({
    model,
    keep: inThousandths(keep),
    fact: inThousandths(fact),
    rule: inThousandths(rule),
  });
  const note = '// Generated by bench/quality/consolidation/train-judge.ts from the development data. Do not edit.';
  const thresholds = `/** Chosen by precision on folds that the judge had not seen. */\nexport const thresholds = { keep: ${limits.keep}, instruction: ${limits.instruction}, surelyMeant: ${limits.surelyMeant} };\n`;
  writeFileSync(file, `${note}\n${thresholds}export const judgeWeights = ${data};\n`);
}

const chosen: Thresholds = { keep: 0.5, instruction: 0.45, surelyMeant: 0.25 };

await withEmbeddedCore(async ({ embedder }) => {
  const sessions = readSessions().map(read);
  const training = sessions.filter(({ text }) => !text.isValidation);
  const validation = sessions.filter(({ text }) => text.isValidation);
  const texts = (readSet('texts', 'development') as LabelledText[]).map(read);
  const groups = [
    ...training.map(examplesOfSession),
    ...texts.map(examplesOfText),
    ...examplesOfSentences(),
    ...examplesOfDecoys(),
  ];
  const examples = groups.flat();
  const episodes = [
    ...groups.map((group) => group.map(({ statement }) => statement)),
    ...validation.map(({ found }) => found.map(({ statement }) => statement)),
  ];
  const vectors = await embed(
    embedder,
    episodes.flat().map(({ content }) => content),
  );
  const inputs = new Map(
    episodes.flatMap((statements) => {
      const those = inputsOf(
        statements,
        statements.map(({ content }) => vectors.get(content) ?? []),
      );
      return statements.map((statement, at): [Statement, Float64Array] => [statement, those[at] as Float64Array]);
    }),
  );
  const inputOf: InputOf = (statement) => inputs.get(statement) as Float64Array;
  const heads = Array.from({ length: folds }, (_, fold) =>
    trainOn(
      examples.filter((example) => example.fold !== fold),
      inputOf,
    ),
  );
  const whole = trainOn(examples, inputOf);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  print(
    `${examples.length} examples, of which ${training.length} sessions and ${texts.length} texts; ${validation.length} sessions set aside`,
  );
  const sets = [...new Set(sessions.map(({ text }) => text.id.split('-')[0] ?? ''))];
  const report = (limits: Thresholds): void => {
    const unseen = (one: Read<{ content: string }>) => keepOf(one, heads[one.fold] as Heads, inputOf, limits);
    const seen = (one: Read<{ content: string }>) => keepOf(one, whole, inputOf, limits);
    const of = (set: string, those: typeof sessions) => those.filter(({ text }) => text.id.startsWith(`${set}-`));
    print(`at ${limits.keep}, rules at ${limits.instruction}`);
    for (const set of sets) print(`  sessions ${set}, five folds: ${describeSessions(of(set, training), unseen)}`);
    print(`  sessions, five folds:   ${describeSessions(training, unseen)}`);
    for (const set of sets) print(`  sessions ${set}, set aside:  ${describeSessions(of(set, validation), seen)}`);
    print(`  sessions, set aside:    ${describeSessions(validation, seen)}`);
    print(`  texts, five folds:      ${describeTexts(texts, unseen)}`);
  };
  for (const keep of [0.45, 0.5, 0.55]) report({ ...chosen, keep });
  for (const instruction of [0.35, 0.55]) report({ ...chosen, instruction });
  writeWeights(modelKey(embedder.model), whole, chosen);
});
