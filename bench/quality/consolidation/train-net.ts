// Trains the heads that judge statements. Deterministic: the same rows give the same weights.
import type {
  RelationHead,
  RelationHeads,
} from '../../../src/lifecycle/consolidation/engines/patterns/relation-judge.ts';

/** What a head is trained on: its inputs, and which of the outcomes is right. */
export interface Row {
  input: ArrayLike<number>;
  outcome: number;
  weight: number;
}

const steps = 300;

/** Logistic regression with an L2 penalty, by gradient descent with momentum. Tells how likely the outcome is 0. */
export function trainLogistic(rows: readonly Row[], penalty: number): RelationHead {
  const size = rows[0]?.input.length ?? 0;
  const [weights, velocity] = [new Float64Array(size + 1), new Float64Array(size + 1)];
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 0; step < steps; step += 1) {
    const gradient = new Float64Array(size + 1);
    for (const { input, outcome, weight } of rows) {
      let sum = weights[size] as number;
      for (let at = 0; at < size; at += 1) sum += (weights[at] as number) * (input[at] as number);
      const error = (weight * (1 / (1 + Math.exp(-sum)) - (outcome === 0 ? 1 : 0))) / total;
      for (let at = 0; at < size; at += 1) add(gradient, at, error * (input[at] as number));
      add(gradient, size, error);
    }
    for (let at = 0; at <= size; at += 1) {
      const slope = (gradient[at] as number) + (at === size ? 0 : (penalty / 2) * (weights[at] as number));
      velocity[at] = 0.9 * (velocity[at] as number) - 0.6 * slope;
      add(weights, at, velocity[at] as number);
    }
  }
  return { bias: weights[size] as number, weights: [...weights.subarray(0, size)] };
}

const outcomes = 3;
const net = { units: 24, penalty: 0.005, epochs: 20, rate: 0.003, dropped: 0.2, batch: 256 };

/** The weights of a net, by rows: of each input to the units and to the outcomes, and of each unit to the outcomes. */
type Parameters = Record<'hidden' | 'hiddenBias' | 'direct' | 'outer' | 'bias', Float64Array>;

/**
 * A net with one hidden layer beside direct weights, on standardised inputs, by Adam. Some inputs of each row are left out at
 * random, so that it does not rely on any one. The outcomes are changes, repeats and neither; the sum of the last is zero.
 */
export function trainNet(rows: readonly Row[]): Pick<RelationHeads, 'hidden' | 'changes' | 'repeats'> {
  const { inputs, means, scales } = standardise(rows);
  const size = means.length;
  const random = createRandom(1);
  const own = createParameters(size, random);
  const moments = [emptyLike(own), emptyLike(own)] as const;
  const mean = rows.reduce((sum, { weight }) => sum + weight, 0) / rows.length;
  const order = rows.map((_, place) => place);
  let step = 0;
  for (let epoch = 0; epoch < net.epochs; epoch += 1) {
    shuffle(order, random);
    const rate = net.rate * 0.5 * (1 + Math.cos((Math.PI * epoch) / net.epochs));
    for (let start = 0; start < order.length; start += net.batch) {
      const batch = order.slice(start, start + net.batch);
      const gradient = emptyLike(own);
      for (const place of batch) {
        const { outcome, weight } = rows[place] as Row;
        const seen = (inputs[place] as Float64Array).map((value) => {
          return random() < net.dropped ? 0 : value / (1 - net.dropped);
        });
        addGradient(gradient, own, { seen, outcome, weight: weight / mean / batch.length });
      }
      step += 1;
      move(own, gradient, { moments, rate, step });
    }
  }
  return asHeads(own, { means, scales });
}

function standardise(rows: readonly Row[]): { inputs: Float64Array[]; means: number[]; scales: number[] } {
  const size = rows[0]?.input.length ?? 0;
  const mean = (of: (row: Row) => number): number => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const means = Array.from({ length: size }, (_, at) => mean(({ input }) => input[at] ?? 0));
  const scales = means.map((middle, at) => 0.05 + Math.sqrt(mean(({ input }) => ((input[at] ?? 0) - middle) ** 2)));
  const inputs = rows.map(({ input }) =>
    Float64Array.from(means, (middle, at) => ((input[at] ?? 0) - middle) / (scales[at] ?? 1)),
  );
  return { inputs, means, scales };
}

function createParameters(size: number, random: () => number): Parameters {
  const normal = (scale: number): number =>
    scale * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return {
    hidden: Float64Array.from({ length: size * net.units }, () => normal(1 / Math.sqrt(size))),
    hiddenBias: new Float64Array(net.units),
    direct: new Float64Array(size * outcomes),
    outer: Float64Array.from({ length: net.units * outcomes }, () => normal(0.1)),
    bias: new Float64Array(outcomes),
  };
}

function emptyLike(own: Parameters): Parameters {
  return {
    hidden: new Float64Array(own.hidden.length),
    hiddenBias: new Float64Array(own.hiddenBias.length),
    direct: new Float64Array(own.direct.length),
    outer: new Float64Array(own.outer.length),
    bias: new Float64Array(own.bias.length),
  };
}

function addGradient(
  gradient: Parameters,
  own: Parameters,
  { seen, outcome, weight }: { seen: Float64Array; outcome: number; weight: number },
): void {
  const [sums, units] = [Float64Array.from(own.bias), Float64Array.from(own.hiddenBias)];
  addProduct(units, seen, own.hidden);
  for (let unit = 0; unit < net.units; unit += 1) units[unit] = Math.tanh(units[unit] as number);
  addProduct(sums, seen, own.direct);
  addProduct(sums, units, own.outer);
  const powers = sums.map((sum) => Math.exp(sum - Math.max(...sums)));
  const all = powers.reduce((sum, power) => sum + power, 0);
  const errors = powers.map((power, at) => weight * (power / all - (at === outcome ? 1 : 0)));
  addOuter(gradient.direct, seen, errors);
  addOuter(gradient.outer, units, errors);
  const slopes = units.map((value, unit) => {
    let sum = 0;
    for (let at = 0; at < outcomes; at += 1)
      sum += (errors[at] as number) * (own.outer[unit * outcomes + at] as number);
    return sum * (1 - value * value);
  });
  addOuter(gradient.hidden, seen, slopes);
  for (const [at, error] of errors.entries()) add(gradient.bias, at, error);
  for (const [unit, slope] of slopes.entries()) add(gradient.hiddenBias, unit, slope);
}

/** Adds the product of a row and a matrix. */
function addProduct(sums: Float64Array, row: Float64Array, matrix: Float64Array): void {
  const width = sums.length;
  for (let at = 0; at < row.length; at += 1) {
    const value = row[at] as number;
    if (value === 0) continue;
    for (let to = 0; to < width; to += 1) sums[to] = (sums[to] as number) + value * (matrix[at * width + to] as number);
  }
}

/** Adds to a matrix the products of each of a column with each of a row. */
function addOuter(matrix: Float64Array, column: Float64Array, row: Float64Array): void {
  const width = row.length;
  for (let at = 0; at < column.length; at += 1) {
    const value = column[at] as number;
    if (value === 0) continue;
    for (let to = 0; to < width; to += 1) add(matrix, at * width + to, value * (row[to] as number));
  }
}

function add(values: Float64Array, at: number, value: number): void {
  values[at] = (values[at] as number) + value;
}

const decay = { first: 0.9, second: 0.999 };

function move(
  own: Parameters,
  gradient: Parameters,
  { moments, rate, step }: { moments: readonly [Parameters, Parameters]; rate: number; step: number },
): void {
  for (const name of Object.keys(own) as (keyof Parameters)[]) {
    const [values, slopes, first, second] = [own[name], gradient[name], moments[0][name], moments[1][name]];
    const penalty = name === 'bias' || name === 'hiddenBias' ? 0 : net.penalty;
    for (let at = 0; at < values.length; at += 1) {
      const slope = (slopes[at] as number) + penalty * (values[at] as number);
      first[at] = decay.first * (first[at] as number) + (1 - decay.first) * slope;
      second[at] = decay.second * (second[at] as number) + (1 - decay.second) * slope * slope;
      const expected = (first[at] as number) / (1 - decay.first ** step);
      add(values, at, (-rate * expected) / (Math.sqrt((second[at] as number) / (1 - decay.second ** step)) + 1e-8));
    }
  }
}

/** Weights for inputs as they are, not standardised. */
function asHeads(
  { hidden, hiddenBias, direct, outer, bias }: Parameters,
  { means, scales }: { means: readonly number[]; scales: readonly number[] },
): Pick<RelationHeads, 'hidden' | 'changes' | 'repeats'> {
  const asHead = (start: number, standardised: readonly number[]): RelationHead => {
    const weights = standardised.map((weight, at) => weight / (scales[at] ?? 1));
    return { bias: weights.reduce((sum, weight, at) => sum - weight * (means[at] ?? 0), start), weights };
  };
  const outcomeHead = (outcome: number): RelationHead => {
    const against = (values: Float64Array, row: number): number =>
      (values[row * outcomes + outcome] ?? 0) - (values[row * outcomes + outcomes - 1] ?? 0);
    const { bias: shift, weights } = asHead(
      against(bias, 0),
      means.map((_, at) => against(direct, at)),
    );
    const ofUnits = Array.from({ length: net.units }, (_, unit) => against(outer, unit));
    return { bias: shift, weights: [...weights, ...ofUnits] };
  };
  return {
    hidden: Array.from({ length: net.units }, (_, unit) =>
      asHead(
        hiddenBias[unit] ?? 0,
        means.map((_mean, at) => hidden[at * net.units + unit] ?? 0),
      ),
    ),
    changes: outcomeHead(0),
    repeats: outcomeHead(1),
  };
}

function shuffle(order: number[], random: () => number): void {
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] as number, order[at] as number];
  }
}

/** mulberry32: the same numbers from the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
