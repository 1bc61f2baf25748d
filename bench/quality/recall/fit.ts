/** The candidates of a question: a row of features for each, and whether it answers the question. */
export interface Ranking {
  rows: number[][];
  isRight: boolean[];
}

interface RankingFit {
  start: readonly number[];
  /** How strongly each weight is drawn to its start. */
  pulls: readonly number[];
  /** Of each question. */
  weights: readonly number[];
}

const scale = 10;
const steps = 150;

/**
 * Fits weights so that what answers a question scores above what does not: softmax over the candidates of each question,
 * by Adam. Deterministic.
 */
export function fitRanking(questions: readonly Ranking[], { start, pulls, weights }: RankingFit): number[] {
  const fitted = [...start];
  const [mean, square] = [new Float64Array(start.length), new Float64Array(start.length)];
  for (let step = 1; step <= steps; step += 1) {
    const slope = findSlope(questions, weights, fitted);
    for (const place of fitted.keys()) {
      const pull = (pulls[place] ?? 0) * ((fitted[place] ?? 0) - (start[place] ?? 0));
      const gradient = scale * ((slope[place] ?? 0) / questions.length + pull);
      mean[place] = 0.9 * (mean[place] ?? 0) + 0.1 * gradient;
      square[place] = 0.99 * (square[place] ?? 0) + 0.01 * gradient * gradient;
      const [m, v] = [(mean[place] ?? 0) / (1 - 0.9 ** step), (square[place] ?? 0) / (1 - 0.99 ** step)];
      fitted[place] = (fitted[place] ?? 0) - (0.02 * m) / (Math.sqrt(v) + 1e-8);
    }
  }
  return fitted;
}

function findSlope(questions: readonly Ranking[], weights: readonly number[], fitted: readonly number[]): Float64Array {
  const slope = new Float64Array(fitted.length);
  for (const [question, { rows, isRight }] of questions.entries()) {
    const scores = rows.map((row) => scale * dot(fitted, row));
    const best = Math.max(...scores);
    const shares = scores.map((score) => Math.exp(score - best));
    const all = sum(shares);
    const right = sum(shares.filter((_, place) => isRight[place] === true));
    for (const [place, row] of rows.entries()) {
      const share = shares[place] ?? 0;
      const error = share / all - (isRight[place] === true && right > 0 ? share / right : 0);
      for (const [at, value] of row.entries())
        if (value !== 0) slope[at] = (slope[at] ?? 0) + (weights[question] ?? 1) * error * value;
    }
  }
  return slope;
}

/** Logistic regression by Newton's method. All weights but the first and the last, the constant, are drawn to zero. */
export function fitLogistic(
  rows: readonly number[][],
  labels: readonly boolean[],
  { weights, pull }: { weights: readonly number[]; pull: number },
): number[] {
  const size = rows[0]?.length ?? 0;
  let fitted = Array.from({ length: size }, () => 0);
  for (let step = 0; step < 60; step += 1) {
    const slope = fitted.map((value, at) => (at === 0 || at === size - 1 ? 0.01 : pull) * value);
    const curve = fitted.map((_, at) =>
      fitted.map((__, other) => (at !== other ? 0 : at === 0 || at === size - 1 ? 0.01 : pull)),
    );
    for (const [place, row] of rows.entries()) {
      const p = 1 / (1 + Math.exp(-dot(fitted, row)));
      const weight = weights[place] ?? 1;
      for (const [at, value] of row.entries()) {
        slope[at] = (slope[at] ?? 0) + weight * (p - Number(labels[place] === true)) * value;
        const line = curve[at] ?? [];
        for (const [other, beside] of row.entries())
          line[other] = (line[other] ?? 0) + weight * p * (1 - p) * value * beside;
      }
    }
    const change = solve(curve, slope);
    fitted = fitted.map((value, at) => value - (change[at] ?? 0));
  }
  return fitted;
}

/** Solves a system of linear equations by elimination. */
function solve(matrix: readonly number[][], right: readonly number[]): number[] {
  const rows = matrix.map((row, place) => [...row, right[place] ?? 0]);
  for (const at of rows.keys()) {
    const best = rows.slice(at).reduce((most, row) => (Math.abs(row[at] ?? 0) > Math.abs(most[at] ?? 0) ? row : most));
    const found = rows.indexOf(best);
    [rows[at], rows[found]] = [best, rows[at] ?? []];
    for (const [place, row] of rows.entries()) {
      if (place === at) continue;
      const factor = (row[at] ?? 0) / (best[at] ?? 1);
      for (const column of row.keys()) row[column] = (row[column] ?? 0) - factor * (best[column] ?? 0);
    }
  }
  return rows.map((row, at) => (row.at(-1) ?? 0) / (row[at] ?? 1));
}

export function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((total, value, place) => total + value * (b[place] ?? 0), 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
