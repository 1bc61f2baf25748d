import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchMode } from '../src/retrieval/query/defaults.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { askQuestions, storeQualityData, type QualityDoor } from './quality/ask.ts';
import { describeGrades, grade } from './quality/grade.ts';
import { withMcpDoor } from './quality/mcp-door.ts';
import type { QualityData, Question, SessionToStore } from './quality/memories.ts';

const modes: SearchMode[] = ['hybrid', 'keyword', 'semantic'];

/** A conversation as the LoCoMo data set publishes it. Session n stands under `session_n` and `session_n_date_time`. */
interface Conversation {
  sample_id: string;
  conversation: Record<string, unknown>;
  qa: { question: string; evidence: string[] }[];
}

interface Turn {
  speaker: string;
  dia_id: string;
  text: string;
}

export const dialogues: Benchmark = {
  question:
    'How many of the turns that answer a question of LoCoMo does memory_search find, asked over MCP, with the default model? (BENCH_LOCOMO names a file in the format of locomo10.json, which is not part of this repository)',
  measure: async () => {
    const file = process.env['BENCH_LOCOMO'];
    if (file === undefined) return [{ what: 'not measured', value: 'BENCH_LOCOMO is not set' }];
    const data = toQualityData(JSON.parse(await readFile(file, 'utf8')) as Conversation[]);
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    try {
      return await withMcpDoor(home, (door) => measureModes(door, data));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

async function measureModes(door: QualityDoor, data: QualityData): Promise<Figure[]> {
  const keys = await storeQualityData(door, data);
  const turns = data.sessions.reduce((sum, { episodes }) => sum + episodes.length, 0);
  const figures: Figure[] = [{ what: 'data', value: `${turns} turns, ${data.questions.length} questions` }];
  for (const mode of modes) {
    const answered = await askQuestions(door, mode, data.questions, keys);
    figures.push({ what: `${mode}: recall@5, recall@10, NDCG@10, hit@1`, value: describeGrades(grade(answered)) });
  }
  return figures;
}

/** One butler a conversation, one episode a turn. */
function toQualityData(conversations: readonly Conversation[]): QualityData {
  return {
    facts: [],
    rules: [],
    sessions: conversations.flatMap(listSessions),
    questions: conversations.flatMap(listQuestions),
  };
}

function listSessions({ sample_id: butler, conversation }: Conversation): SessionToStore[] {
  const names = Object.keys(conversation).filter((name) => /^session_\d+$/.test(name));
  return names.map((name) => {
    const observedAt = readDate(conversation[`${name}_date_time`] as string);
    const episodes = (conversation[name] as Turn[]).map(({ speaker, dia_id, text }) => {
      const key = `${butler}/${dia_id}`;
      return { type: 'episode' as const, key, butler, content: `${speaker}: ${text}`, observedAt };
    });
    return { sessionId: makeUuid(`${butler}/${name}`), episodes };
  });
}

/** Questions without evidence have no turn to find. */
function listQuestions({ sample_id: butler, qa }: Conversation): Question[] {
  return qa
    .filter(({ evidence }) => evidence.length > 0)
    .map(({ question, evidence }) => ({
      kind: 'several sessions',
      text: question,
      answers: [...new Set(evidence)].map((turn) => `${butler}/${turn}`),
      scope: butler,
    }));
}

/** Reads "1:56 pm on 8 May, 2023" as noon of that day: a session is one day, and its turns have an order. */
function readDate(text: string): Date {
  return new Date(`${text.replace(/^.* on /, '')} 12:00 UTC`);
}

function makeUuid(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `5${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
