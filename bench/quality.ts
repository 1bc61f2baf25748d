import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchMode } from '../src/retrieval/query/defaults.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { askQuestions, storeQualityData, type QualityDoor } from './quality/ask.ts';
import { generateQualityData } from './quality/generate.ts';
import { describeGrades, grade, type Answered } from './quality/grade.ts';
import { withMcpDoor } from './quality/mcp-door.ts';
import { questionKinds, type QualityData } from './quality/memories.ts';

const modes: SearchMode[] = ['hybrid', 'keyword', 'semantic'];

export const quality: Benchmark = {
  question:
    'How many of the known answers does memory_search bring, asked over MCP on a household of our own (bench/quality), with the default model? (hybrid must not be below the better channel)',
  measure: async () => {
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    try {
      return await withMcpDoor(home, (door) => measureModes(door, generateQualityData(new Date())));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

async function measureModes(door: QualityDoor, data: QualityData): Promise<Figure[]> {
  const keys = await storeQualityData(door, data);
  const figures: Figure[] = [describeData(data)];
  const byKind: Figure[] = [];
  for (const mode of modes) {
    const answered = await askQuestions(door, mode, data.questions, keys);
    figures.push({ what: `${mode}: recall@5, recall@10, NDCG@10, hit@1`, value: describeGrades(grade(answered)) });
    figures.push({ what: `${mode}: results that must not come`, value: String(grade(answered).forbidden) });
    if (mode === 'hybrid') byKind.push(...figuresByKind(answered));
  }
  return [...figures, ...byKind];
}

function describeData({ facts, rules, sessions, questions }: QualityData): Figure {
  const episodes = sessions.reduce((sum, session) => sum + session.episodes.length, 0);
  const stored = `${facts.length} facts, ${rules.length} rules, ${episodes} episodes of ${sessions.length} sessions`;
  return { what: 'data', value: `${stored}; ${questions.length} questions` };
}

function figuresByKind(answered: readonly Answered[]): Figure[] {
  return questionKinds.map((kind) => {
    const grades = grade(answered.filter(({ question }) => question.kind === kind));
    return { what: `hybrid, ${kind} (${grades.questions} questions)`, value: describeGrades(grades) };
  });
}
