import { readEpisode } from '../../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import type { Statement } from '../../../../src/lifecycle/consolidation/engines/patterns/statement.ts';
import type { LabelledText } from './labelled-text.ts';

export interface Score {
  right: number;
  wrong: string[];
  missed: string[];
}

export const day = new Date('2026-03-01T12:00:00.000Z');

/** What was found of what is labelled, what was found beside it, and what was not found. */
export function scoreTexts(texts: readonly LabelledText[]): Score {
  const score: Score = { right: 0, wrong: [], missed: [] };
  for (const [text, ...labels] of texts) {
    const found = readEpisode(text, day)
      .map(({ statement }) => statement)
      .filter(({ says }) => says !== 'ended');
    const open = [...labels];
    for (const statement of found) {
      const place = open.findIndex((label) => matches(statement, label));
      if (place < 0) score.wrong.push(`${text} -> ${describe(statement)}`);
      else {
        open.splice(place, 1);
        score.right += 1;
      }
    }
    score.missed.push(...open.map((label) => `${text} -> ${label}`));
  }
  return score;
}

export function addScores(scores: readonly Score[]): Score {
  return {
    right: scores.reduce((sum, { right }) => sum + right, 0),
    wrong: scores.flatMap(({ wrong }) => wrong),
    missed: scores.flatMap(({ missed }) => missed),
  };
}

export function precisionOf({ right, wrong }: Score): number {
  return right / Math.max(1, right + wrong.length);
}

export function recallOf({ right, missed }: Score): number {
  return right / Math.max(1, right + missed.length);
}

function matches(statement: Statement, label: string): boolean {
  const parts = label.split(' | ');
  const part = parts.at(-1) ?? '';
  if (!statement.content.toLowerCase().includes(part.toLowerCase())) return false;
  if (parts.length === 2) return statement.says === 'rule';
  if (statement.says !== 'holds') return false;
  const [subject, predicate, permanence] = parts.length === 4 ? parts : ['user', ...parts];
  return (
    statement.subject === subject &&
    isNamed(statement.predicate, predicate ?? '') &&
    statement.permanence === permanence
  );
}

function isNamed(predicate: string, wanted: string): boolean {
  return wanted.endsWith('*') ? predicate.startsWith(wanted.slice(0, -1)) : predicate === wanted;
}

function describe(statement: Statement): string {
  if (statement.says === 'rule') return `rule | ${statement.content}`;
  if (statement.says === 'ended') return `ended | ${statement.content}`;
  return `${statement.subject} | ${statement.predicate} | ${statement.permanence} | ${statement.content}`;
}
