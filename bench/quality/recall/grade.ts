import type { Figure } from '../../benchmark.ts';

/** The answer of one recall. */
export interface Answer {
  question: string;
  kind: 'answerable' | 'unrelated' | 'near';
  /** Keys of the results, best first. */
  found: readonly (string | undefined)[];
  /** Relevance of each result. */
  relevances: readonly number[];
  /** The best of all that was ranked, whether it was returned or not. */
  considered: readonly object[];
  /** Keys that answer the question; empty where nothing stored does. */
  answers: readonly string[];
  milliseconds: number;
}

/** Grades the answers that one store gave. */
export function gradeStore(where: string, answers: readonly Answer[]): Figure[] {
  const of = (kind: Answer['kind']): readonly Answer[] => answers.filter((answer) => answer.kind === kind);
  const asked = of('answerable');
  const shares = [
    { what: `${where}: hit@1`, share: shareWhere(asked, (answer) => isHit(answer, 1)) },
    { what: `${where}: hit@3`, share: shareWhere(asked, (answer) => isHit(answer, 3)) },
    { what: `${where}: answerable questions that got no answer`, share: shareWhere(asked, (one) => !isAnswered(one)) },
    { what: `${where}: unrelated questions answered`, share: shareWhere(of('unrelated'), isAnswered) },
    { what: `${where}: near questions answered`, share: shareWhere(of('near'), isAnswered) },
  ];
  return [
    ...shares.filter(({ share }) => share !== null).map(({ what, share }) => ({ what, value: share ?? '' })),
    { what: `${where}: time of a recall, median, p95`, value: describeTimes(answers) },
  ];
}

const binCount = 10;

/**
 * Compares the relevance of first results with how often they answer the question. An unrelated question has no answer,
 * so each of its results counts as wrong; near questions are left out, as a part of them is answered sensibly.
 */
export function gradeReliability(answers: readonly Answer[]): Figure[] {
  const first = answers
    .filter((answer) => answer.kind !== 'near' && isAnswered(answer))
    .map((answer) => ({ relevance: answer.relevances[0] ?? 0, isRight: isHit(answer, 1) }));
  const bins = Array.from({ length: binCount }, (_, bin) =>
    first.filter(({ relevance }) => Math.min(binCount - 1, Math.floor(relevance * binCount)) === bin),
  );
  const figures = bins.map((bin, place): Figure => {
    const what = `first results of relevance ${(place / binCount).toFixed(1)} to ${((place + 1) / binCount).toFixed(1)}: mean relevance, share right, count`;
    return {
      what,
      value: bin.length === 0 ? 'none' : `${mean(bin).toFixed(2)}, ${rightShare(bin).toFixed(2)}, ${bin.length}`,
    };
  });
  const error = bins.reduce(
    (sum, bin) => sum + (bin.length === 0 ? 0 : bin.length * Math.abs(mean(bin) - rightShare(bin))),
    0,
  );
  return [...figures, { what: 'calibration error of the relevance', value: (error / first.length).toFixed(3) }];
}

function isHit({ found, answers }: Answer, within: number): boolean {
  return found.slice(0, within).some((key) => key !== undefined && answers.includes(key));
}

function isAnswered({ found }: Answer): boolean {
  return found.length > 0;
}

type First = { relevance: number; isRight: boolean };

function mean(bin: readonly First[]): number {
  return bin.reduce((sum, { relevance }) => sum + relevance, 0) / bin.length;
}

function rightShare(bin: readonly First[]): number {
  return bin.filter(({ isRight }) => isRight).length / bin.length;
}

function shareWhere(answers: readonly Answer[], holds: (answer: Answer) => boolean): string | null {
  if (answers.length === 0) return null;
  const count = answers.filter(holds).length;
  return `${((100 * count) / answers.length).toFixed(1)} % (${count} of ${answers.length})`;
}

function describeTimes(answers: readonly Answer[]): string {
  const times = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? Number.NaN).toFixed(1);
  return `${at(0.5)} ms, ${at(0.95)} ms`;
}
