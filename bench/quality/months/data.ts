import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/shared/package-root.ts';
import type { Half } from '../consolidation/score.ts';

export interface MonthEpisode {
  butler: string;
  observed_at: string;
  content: string;
}

export interface MonthQuestion {
  id: number;
  q: string;
  /** Patterns that the answer matches, or the one word `unknown`. */
  must: string[];
  /** Patterns of what is outdated, forgotten or said by others. */
  not: string[];
  kind: string;
}

export interface Month {
  name: string;
  asked_at: string;
  episodes: MonthEpisode[];
  /** Once episode `after` is stored, what matches the patterns is forgotten. */
  forget: { after: number; patterns: string[] }[];
  questions: MonthQuestion[];
}

/** What an agent stored by itself before the summary of the same session. */
export interface AgentCall {
  tool: 'memory_store_fact' | 'memory_store_rule' | 'memory_store';
  arguments: { subject?: string; predicate?: string; content: string; scope?: string; tags?: string[] };
}

const folder = join(packageRoot, 'bench', 'quality', 'months');

export function readMonths(half: Half): Month[] {
  const files = readdirSync(folder).filter((file) => file.startsWith('month-') && file.endsWith(`.${half}.json`));
  return files.toSorted().map((file) => ({ ...(readJson(file) as Month), name: file.split('.')[0] ?? file }));
}

/** Some months are told in summaries alone. */
export function hasAgentCalls({ name }: Month): boolean {
  return existsSync(join(folder, `${name}.facts.json`));
}

/** Returns what agents stored, by the index of the episode. */
export function readAgentCalls({ name }: Month): Map<number, AgentCall[]> {
  const { sessions } = readJson(`${name}.facts.json`) as { sessions: { episode: number; stored: AgentCall[] }[] };
  return new Map(sessions.map(({ episode, stored }) => [episode, stored]));
}

export type Verdict = 'right' | 'outdated' | 'garbled' | 'duplicate';

/** Verdicts of a person on what consolidation added to what agents had stored, by month and content. */
export function readVerdicts(half: Half): Record<string, Record<string, Verdict>> {
  const file = `created.judged.${half}.json`;
  return readdirSync(folder).includes(file) ? (readJson(file) as Record<string, Record<string, Verdict>>) : {};
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}
