import type { MemoryCore } from '../../../src/create-memory.ts';
import { openRows } from '../../../src/encryption/sealing.ts';
import { consolidateWith } from '../../../src/lifecycle/consolidation/consolidate.ts';
import type { ConsolidationEngine } from '../../../src/lifecycle/consolidation/engine.ts';
import { forgetMemory } from '../../../src/memory/forgetting/forget.ts';
import { createTenantContext, type MemoryContext } from '../../../src/memory/context.ts';
import { ingestEpisodes } from '../../../src/memory/episodes/episodes.ts';
import { isLive, liveValidities } from '../../../src/memory/facts/fact-values.ts';
import { storeFact, type Fact } from '../../../src/memory/facts/facts.ts';
import { readablePredicate, readsAsNote } from '../../../src/memory/facts/note-key.ts';
import { storeNote } from '../../../src/memory/facts/notes.ts';
import { storeRule } from '../../../src/memory/rules/rules.ts';
import { recallMemories } from '../../../src/retrieval/recall.ts';
import { test } from '../consolidation/score.ts';
import { readAgentCalls, type AgentCall, type Month, type MonthEpisode } from './data.ts';

/** How a month is told: in summaries, in summaries beside what agents store, or with each sentence kept as a note. */
export type Way = 'summaries' | 'agents' | 'naive';

export interface Clock {
  set(now: Date): void;
}

export interface Answered {
  id: number;
  question: string;
  kind: string;
  /** The first results, one a line; empty where nothing relevant is known. */
  answer: string;
  isRight: boolean;
  isOutdated: boolean;
  /** Where the first memory that answers alone stands among all results, and its relevance; null where none does. */
  best: { place: number; relevance: number; text: string } | null;
}

export interface Lived {
  answers: Answered[];
  /** What consolidation made and is live in the end. */
  created: string[];
}

/** Tells a month in the order of its sessions, consolidating after each, then asks its questions. */
export async function liveMonth(
  core: MemoryCore,
  engine: ConsolidationEngine,
  month: Month,
  { way, clock }: { way: Way; clock: Clock },
): Promise<Lived> {
  const context = createTenantContext(core, `${month.name}-${way}`);
  const calls = way === 'agents' ? readAgentCalls(month) : new Map<number, AgentCall[]>();
  const stored = new Set<string>();
  for (const [place, episode] of month.episodes.entries()) {
    const observedAt = new Date(episode.observed_at);
    clock.set(observedAt);
    for (const call of calls.get(place) ?? []) stored.add(await storeAs(context, call, observedAt));
    if (way === 'naive') await storeSentences(context, episode, place);
    else {
      await ingestEpisodes(context, [{ butler: episode.butler, content: episode.content, observedAt }]);
      clock.set(new Date(observedAt.getTime() + 60_000));
      await consolidateWith(context, engine, {});
    }
    for (const { patterns } of month.forget.filter(({ after }) => after === place)) await forget(context, patterns);
  }
  clock.set(new Date(month.asked_at));
  const created = (await listLive(context)).filter(({ id }) => !stored.has(id)).map(({ text }) => text);
  return { answers: await askAll(context, month), created };
}

async function storeAs(context: MemoryContext, { tool, arguments: given }: AgentCall, observedAt: Date) {
  const { content, subject = '', predicate = '', scope, tags } = given;
  if (tool === 'memory_store_rule') return (await storeRule(context, { content, scope })).value.id;
  if (tool === 'memory_store') return (await storeNote(context, { content, tags })).value.id;
  return (await storeFact(context, { subject, predicate, content, observedAt })).value.id;
}

async function storeSentences(context: MemoryContext, episode: MonthEpisode, place: number): Promise<void> {
  const sentences = episode.content.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== '');
  for (const [index, content] of sentences.entries()) {
    // A key of its own, so that none replaces another.
    const predicate = `note ${place} ${index}`;
    await storeFact(context, { subject: 'user', predicate, content, observedAt: new Date(episode.observed_at) });
  }
}

interface LiveMemory {
  type: 'fact' | 'rule';
  id: string;
  text: string;
}

async function listLive(context: MemoryContext): Promise<LiveMemory[]> {
  const { tenantId } = context.principal;
  const { client } = context.db;
  const rows = await client.fact.findMany({ where: { tenantId, validity: { in: liveValidities } } });
  const facts = await openRows(context, rows);
  const rules = await client.rule.findMany({ where: { tenantId, validity: { not: 'retracted' } } });
  return [
    ...facts.map((fact): LiveMemory => ({ type: 'fact', id: fact.id, text: textOf(fact) })),
    ...rules
      .filter(({ validity }) => isLive(validity))
      .map(({ id, content }): LiveMemory => ({ type: 'rule', id, text: content })),
  ];
}

function textOf(fact: Pick<Fact, 'subject' | 'predicate' | 'content'>): string {
  return readsAsNote(fact) ? fact.content : `${fact.subject}, ${readablePredicate(fact)}: ${fact.content}`;
}

async function forget(context: MemoryContext, patterns: readonly string[]): Promise<void> {
  const isMeant = ({ text }: { text: string }): boolean => patterns.some((pattern) => test(pattern, text));
  for (const { type, id } of (await listLive(context)).filter(isMeant)) {
    await forgetMemory(context, { type, id, sources: true });
  }
}

const answerLimit = 3;
/** As many results as show where an answer stands that is not among the first. */
const mostResults = 100;

async function askAll(context: MemoryContext, { questions }: Month): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const { id, q, must, not, kind } of questions) {
    const { results } = await recallMemories(context, { topic: q, limit: answerLimit });
    const answer = results
      .map(({ memory, relevance }) => {
        const text = memory.type === 'fact' ? textOf(memory.row) : (memory.row as { content: string }).content;
        return `${text} (${relevance.toFixed(2)})`;
      })
      .join('\n');
    const isOutdated = not.some((pattern) => test(pattern, answer));
    const isFound = must[0] === 'unknown' ? answer === '' : must.every((pattern) => test(pattern, answer));
    const best = await findBest(context, q, must);
    answers.push({ id, question: q, kind, answer, isOutdated, isRight: isFound && !isOutdated, best });
  }
  return answers;
}

/** Finds the first memory that answers a question alone, however little it matches. */
async function findBest(context: MemoryContext, topic: string, must: readonly string[]): Promise<Answered['best']> {
  const { results } = await recallMemories(context, { topic, limit: mostResults, floor: 0 });
  const texts = results.map(({ memory }) =>
    memory.type === 'fact' ? textOf(memory.row) : (memory.row as { content: string }).content,
  );
  const place = texts.findIndex((text) => must.every((pattern) => test(pattern, text)));
  return place < 0 ? null : { place: place + 1, relevance: results[place]?.relevance ?? 0, text: texts[place] ?? '' };
}
