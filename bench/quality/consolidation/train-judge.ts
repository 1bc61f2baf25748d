// node --import tsx bench/quality/consolidation/train-judge.ts: trains the judge of the patterns engine on the development half
// and writes its weights. Prints what the judge would say of texts that it was not trained on (five folds).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelKey, type Embedder } from '../../../src/embedding/embedder.ts';
import { featuresOf } from '../../../src/lifecycle/consolidation/engines/patterns/features.ts';
import { probability } from '../../../src/lifecycle/consolidation/engines/patterns/judge.ts';
import { readEpisode } from '../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import type { Statement } from '../../../src/lifecycle/consolidation/engines/patterns/statement.ts';
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
  type LabelledText,
  type ScoredText,
} from './score.ts';

interface LabelledSentence {
  text: string;
  label: string;
  keep: boolean;
}

interface Example {
  content: string;
  keep: boolean;
  /** Null where the example says nothing about it. */
  isInstruction: boolean | null;
  fold: number;
}

interface Head {
  bias: number;
  weights: number[];
}

const folds = 5;
const regularisation = { keep: 0.006, instruction: 0.01 };
const day = new Date('2026-03-10T12:00:00Z');

function examplesOfSentences(): Example[] {
  return (readSet('sentences', 'development') as LabelledSentence[]).flatMap(({ text, label, keep }, place) => {
    const isFirst = /\b(?:I|my|me|we|our|mine)\b/i.test(text) || !/\b(?:user|she|he|her|his)\b/i.test(text);
    const read = readEpisode(isFirst ? `User: ${text}` : text, day).map(({ statement }) => statement.content);
    const contents = read.length > 0 ? read : [text.replace(/[.!]$/, '')];
    const isInstruction = keep ? label === 'instruction' : null;
    return contents.map((content) => ({ content, keep, isInstruction, fold: place % folds }));
  });
}

/** Sentences that look like statements and are none: idioms, moments, irony. */
function examplesOfDecoys(): Example[] {
  return (readSet('decoys', 'development') as string[]).flatMap((text, place) => {
    const read = readEpisode(text, day).map(({ statement }) => statement.content);
    return read.map((content) => ({ content, keep: false, isInstruction: null, fold: place % folds }));
  });
}

function examplesOfTexts(): Example[] {
  const judged = readJudged('development');
  return readTexts().flatMap((text, place) => {
    const found = readEpisode(text.content, new Date(text.observedAt)).map(({ statement }) => statement);
    const items = found.map(itemOf);
    const { wrong } = scoreText(text, items, judged);
    return items.map((item) => ({
      content: item.content,
      keep: !wrong.includes(item),
      isInstruction: wrong.includes(item) ? null : item.kind === 'rule',
      fold: place % folds,
    }));
  });
}

function readTexts(): LabelledText[] {
  return readSet('texts', 'development') as LabelledText[];
}

function itemOf(statement: Statement): { kind: 'fact' | 'rule'; text: string; content: string } {
  const { content } = statement;
  const about = statement.says === 'fact' ? `${statement.subject} ${statement.predicate ?? 'note'} ` : '';
  return { kind: statement.says, text: about + content, content };
}

/** Logistic regression with an L2 penalty, by gradient descent with momentum: deterministic. */
function train(inputs: readonly number[][], labels: readonly boolean[], penalty: number): Head {
  const size = inputs[0]?.length ?? 0;
  const head: Head = { bias: 0, weights: Array.from({ length: size }, () => 0) };
  const velocity = new Float64Array(size + 1);
  const positives = labels.filter(Boolean).length;
  const balance = [labels.length / (2 * (labels.length - positives)), labels.length / (2 * positives)];
  for (let step = 0; step < 600; step += 1) {
    const gradient = new Float64Array(size + 1);
    for (const [row, input] of inputs.entries()) {
      const error =
        (probability(head, input) - (labels[row] === true ? 1 : 0)) * (balance[labels[row] === true ? 1 : 0] ?? 1);
      for (let at = 0; at < size; at += 1) gradient[at] = (gradient[at] ?? 0) + error * (input[at] ?? 0);
      gradient[size] = (gradient[size] ?? 0) + error;
    }
    for (let at = 0; at <= size; at += 1) {
      const slope = (gradient[at] ?? 0) / inputs.length + (at < size ? penalty * (head.weights[at] ?? 0) : 0);
      velocity[at] = 0.9 * (velocity[at] ?? 0) - 0.5 * slope;
      if (at < size) head.weights[at] = (head.weights[at] ?? 0) + (velocity[at] ?? 0);
      else head.bias += velocity[at] ?? 0;
    }
  }
  return head;
}

/** Vectors are kept in a file while the reader is developed: TRAIN_CACHE names it. */
async function embed(embedder: Embedder, contents: readonly string[]): Promise<Map<string, number[]>> {
  const file = process.env['TRAIN_CACHE'];
  const known: Record<string, number[]> =
    file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number[]>) : {};
  const lacking = [...new Set(contents)].filter((content) => known[content] === undefined);
  const vectors = await embedder.embed(lacking);
  for (const [place, content] of lacking.entries())
    known[content] = [...(vectors[place]?.vector ?? [])].map((value) => Number(value.toFixed(5)));
  if (file !== undefined) writeFileSync(file, JSON.stringify(known));
  return new Map(Object.entries(known));
}

function areaUnderCurve(scores: readonly number[], labels: readonly boolean[]): number {
  const ranked = scores
    .map((score, place) => ({ score, label: labels[place] === true }))
    .toSorted((a, b) => a.score - b.score);
  const positives = ranked.filter(({ label }) => label).length;
  const sum = ranked.reduce((total, { label }, place) => total + (label ? place + 1 : 0), 0);
  return (sum - (positives * (positives + 1)) / 2) / (positives * (ranked.length - positives));
}

type InputOf = (content: string) => number[];

interface Heads {
  keep: Head;
  instruction: Head;
}

function trainOn(chosen: readonly Example[], inputOf: InputOf): Heads {
  const told = chosen.filter(({ isInstruction }) => isInstruction !== null);
  const inputs = (those: readonly Example[]): number[][] => those.map(({ content }) => inputOf(content));
  const keeps = chosen.map(({ keep }) => keep);
  const instructions = told.map(({ isInstruction }) => isInstruction === true);
  return {
    keep: train(inputs(chosen), keeps, regularisation.keep),
    instruction: train(inputs(told), instructions, regularisation.instruction),
  };
}

const noHeads: Heads = { keep: { bias: 0, weights: [] }, instruction: { bias: 0, weights: [] } };

/** Says how well heads judge the examples that they were not trained on. */
function describeHeads(examples: readonly Example[], heads: readonly Heads[], inputOf: InputOf): string {
  const scores = examples.map(({ content, fold }) => probability((heads[fold] ?? noHeads).keep, inputOf(content)));
  const keeps = examples.map(({ keep }) => keep);
  const share = (keep: boolean): string => {
    const those = scores.filter((_, place) => keeps[place] === keep);
    return `${((100 * those.filter((score) => score >= 0.5).length) / those.length).toFixed(1)} %`;
  };
  const area = areaUnderCurve(scores, keeps).toFixed(3);
  return `${examples.length} examples; AUC ${area}; at 0.5 keeps ${share(true)} of the good, passes ${share(false)} of the bad`;
}

/** What the texts would score, each judged by heads that were not trained on it. */
function scoreFolds(
  heads: readonly Heads[],
  inputOf: InputOf,
  [alone, beside]: readonly [number, number],
): ScoredText[] {
  const judged = readJudged('development');
  return readTexts().map((text, place) => {
    const { keep } = heads[place % folds] ?? noHeads;
    const found = readEpisode(text.content, new Date(text.observedAt)).map(({ statement }) => {
      return { statement, score: probability(keep, inputOf(statement.content)) };
    });
    const kept = found.filter(({ statement, score }) => {
      const isBeside = found.some((other) => other.statement !== statement && other.score >= 0.6);
      return statement.threshold === null || score >= statement.threshold - 0.5 + (isBeside ? beside : alone);
    });
    return scoreText(
      text,
      kept.map(({ statement }) => itemOf(statement)),
      judged,
    );
  });
}

function round({ bias, weights }: Head): Head {
  return { bias: Number(bias.toFixed(4)), weights: weights.map((weight) => Number(weight.toFixed(4))) };
}

function writeWeights(model: string, { keep, instruction }: Heads): void {
  const file = join(packageRoot, 'src', 'lifecycle', 'consolidation', 'engines', 'patterns', 'judge-weights.ts');
  const data = JSON.stringify({ model, keep: round(keep), instruction: round(instruction) });
  const note =
    '// Generated by bench/quality/consolidation/train-judge.ts from the development sentences and texts. Do not edit.';
  writeFileSync(file, `${note}\nexport const judgeWeights = ${data};\n`);
}

await withEmbeddedCore(async ({ embedder }) => {
  const examples = [...examplesOfSentences(), ...examplesOfDecoys(), ...examplesOfTexts()];
  const vectors = await embed(
    embedder,
    examples.map(({ content }) => content),
  );
  const inputOf: InputOf = (content) => [...(vectors.get(content) ?? []), ...featuresOf(content)];
  const heads = Array.from({ length: folds }, (_, fold) =>
    trainOn(
      examples.filter((example) => example.fold !== fold),
      inputOf,
    ),
  );
  const report = [describeHeads(examples, heads, inputOf)];
  for (const thresholds of [
    [0.4, 0.4],
    [0.4, 0.25],
    [0.5, 0.3],
    [0.5, 0.2],
  ] as const) {
    const scored = scoreFolds(heads, inputOf, thresholds);
    const recall = describeShare(addShares(recallOf(scored, 'fact'), recallOf(scored, 'rule')));
    const precision = describeShare(addShares(precisionOf(scored, 'fact'), precisionOf(scored, 'rule')));
    report.push(`five folds, thresholds ${thresholds.join(' and ')}: recall ${recall}, precision ${precision}`);
  }
  process.stdout.write(`${report.join('\n')}\n`);
  writeWeights(modelKey(embedder.model), trainOn(examples, inputOf));
});
