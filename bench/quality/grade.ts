import type { Question } from './memories.ts';

/** A question with the keys that came, best first. */
export interface Answered {
  question: Question;
  found: readonly (string | undefined)[];
}

/** Shares from 0 to 100, but for `questions` and `forbidden`, which are counts. */
export interface Grades {
  questions: number;
  recallAt5: number;
  recallAt10: number;
  ndcgAt10: number;
  hitAt1: number;
  /** Results that must not have come: superseded, or of another butler. */
  forbidden: number;
}

export function grade(answered: readonly Answered[]): Grades {
  const mean = (of: (one: Answered) => number): number =>
    (100 * answered.reduce((sum, one) => sum + of(one), 0)) / answered.length;
  return {
    questions: answered.length,
    recallAt5: mean((one) => recallAt(5, one)),
    recallAt10: mean((one) => recallAt(10, one)),
    ndcgAt10: mean((one) => gainOf(one) / idealGain(one.question.answers.length)),
    hitAt1: mean(({ question, found }) => Number(isAnswer(question, found[0]))),
    forbidden: answered.reduce((sum, one) => sum + countForbidden(one), 0),
  };
}

/** recall@5, recall@10, NDCG@10 and hit@1. */
export function describeGrades({ recallAt5, recallAt10, ndcgAt10, hitAt1 }: Grades): string {
  return [recallAt5, recallAt10, ndcgAt10, hitAt1].map((share) => share.toFixed(1)).join(', ');
}

function isAnswer({ answers }: Question, key: string | undefined): boolean {
  return key !== undefined && answers.includes(key);
}

function recallAt(count: number, { question, found }: Answered): number {
  return found.slice(0, count).filter((key) => isAnswer(question, key)).length / question.answers.length;
}

function gainOf({ question, found }: Answered): number {
  return found.slice(0, 10).reduce((sum, key, place) => sum + (isAnswer(question, key) ? gainAt(place) : 0), 0);
}

function idealGain(answers: number): number {
  return Array.from({ length: Math.min(10, answers) }, (_, place) => gainAt(place)).reduce((a, b) => a + b, 0);
}

function gainAt(place: number): number {
  return 1 / Math.log2(place + 2);
}

function countForbidden({ question: { never = [] }, found }: Answered): number {
  return found.filter((key) => key !== undefined && never.includes(key)).length;
}
