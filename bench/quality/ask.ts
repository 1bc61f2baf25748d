import type { SearchMode } from '../../src/retrieval/query/defaults.ts';
import type { Answered } from './grade.ts';
import type { FactToStore, QualityData, Question, RuleToStore, SessionToStore } from './memories.ts';

/** Where the data is put and the questions are asked: a server, or the core itself. Answers with ids. */
export interface QualityDoor {
  storeFact(fact: FactToStore): Promise<string>;
  storeRule(rule: RuleToStore): Promise<string>;
  /** In the order of the session. */
  storeSession(session: SessionToStore): Promise<string[]>;
  /** Best first. */
  search(question: Question, mode: SearchMode, limit: number): Promise<string[]>;
}

/** The key of each id. */
export type KeysById = ReadonlyMap<string, string>;

export async function storeQualityData(door: QualityDoor, data: QualityData): Promise<KeysById> {
  const facts = await inChunks(data.facts, async (fact) => [await door.storeFact(fact), fact.key] as const);
  const rules = await inChunks(data.rules, async (rule) => [await door.storeRule(rule), rule.key] as const);
  const episodes = await inChunks(data.sessions, async (session) => {
    const ids = await door.storeSession(session);
    return session.episodes.map(({ key }, place) => [ids[place] ?? '', key] as const);
  });
  return new Map([...facts, ...rules, ...episodes.flat()]);
}

export async function askQuestions(
  door: QualityDoor,
  mode: SearchMode,
  questions: readonly Question[],
  keys: KeysById,
): Promise<Answered[]> {
  return inChunks(questions, async (question): Promise<Answered> => {
    const ids = await door.search(question, mode, 10);
    return { question, found: ids.map((id) => keys.get(id)) };
  });
}

const chunkSize = 8;

/** Some at a time, and all of them before the next: a fact is there before the one that supersedes it comes. */
async function inChunks<T, Result>(items: readonly T[], work: (item: T) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += chunkSize) {
    results.push(...(await Promise.all(items.slice(start, start + chunkSize).map(work))));
  }
  return results;
}
