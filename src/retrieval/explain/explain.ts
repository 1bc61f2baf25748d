import type { Config } from '../../config/schema.ts';
import type { RowFilter } from '../../db/sql/search-filter.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { referenceKey, type Memory } from '../../memory/memories.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { checkUuid } from '../../memory/values.ts';
import { assembleContext, prepareContext, type ContextInput } from '../context/context.ts';
import { matchesToRank } from '../query/defaults.ts';
import { findFilterDrop } from './filter-drop.ts';
import { loadFound } from '../pipeline/load.ts';
import { filterOfContext } from '../context/rank-context.ts';
import { prepareRecall, recallMemories, type RecallInput, type RecallOutcome } from '../recall.ts';
import { compositeOf, type ReceiptCandidate } from '../receipts/receipts.ts';
import { prepareSearch, searchMemories, type SearchOutcome } from '../search.ts';
import { sectionNames, type SectionName } from '../context/sections.ts';
import type { DropStage } from '../pipeline/stages.ts';

export type ExplainContextInput = ContextInput & { memory: MemoryReference };

export interface ExplainQueryInput extends Omit<RecallInput, 'topic'> {
  memory: MemoryReference;
  query: string;
  /** How the query is asked; recall when left out. */
  kind?: 'recall' | 'search' | null | undefined;
}

export interface MemoryExplanation {
  memory: MemoryReference;
  kind: 'context' | 'recall' | 'search';
  query: string;
  /** Whether it is in the answer. */
  came: boolean;
  /** The first stage that dropped it; null when it came. */
  stage: DropStage | null;
  /** One sentence. */
  reason: string;
  /** Its place in the answer, or in its section of a context, from 1. */
  place: number | null;
  section: SectionName | null;
  tokens: number | null;
  /** What it was ranked by, as far as it got. */
  scores: Pick<ReceiptCandidate, 'score' | 'relevance' | 'parts' | 'composite'> | null;
}

/**
 * Why a memory comes, or which stage is the first to drop it, for a context, recall or search as it would be answered now,
 * or as of the moment that is named.
 * Asks the same functions that answer, keeps no receipt and counts no reference.
 */
export async function explainMemory(
  context: MemoryContext,
  input: ExplainContextInput | ExplainQueryInput,
): Promise<MemoryExplanation> {
  const memory = { type: input.memory.type, id: checkUuid('id', input.memory.id) };
  const asked = 'triggerPrompt' in input ? askContext(context, input) : askQuery(context, input);
  const explain = (part: Partial<MemoryExplanation> & { reason: string }): MemoryExplanation => ({
    memory,
    kind: asked.kind,
    query: asked.query,
    came: false,
    stage: null,
    place: null,
    section: null,
    tokens: null,
    scores: null,
    ...part,
  });
  const found = await findAnyState(context, memory, asked.filter);
  const drop = found === null ? null : await findFilterDrop(context, found, asked.filter);
  // To a butler, what is in the scope of another one does not exist.
  if (found === null || (drop?.stage === 'scope' && onlyButlerOf(context) !== null)) {
    return explain({
      stage: 'not_found',
      reason: `${memory.type} ${memory.id} ${asked.filter.isPast ? 'was not there then' : 'is not there'}`,
    });
  }
  if (drop !== null) return explain(drop);
  return explain(await asked.answer(memory));
}

interface Asked {
  kind: MemoryExplanation['kind'];
  query: string;
  filter: RowFilter;
  answer(memory: MemoryReference): Promise<Partial<MemoryExplanation> & { reason: string }>;
}

async function findAnyState(
  context: MemoryContext,
  reference: MemoryReference,
  filter: RowFilter,
): Promise<Memory | null> {
  const [rows] = await loadFound(context, [{ filter, references: [reference] }]);
  const row = rows?.get(referenceKey(reference));
  return row === undefined ? null : ({ type: reference.type, row } as Memory);
}

function askContext(context: MemoryContext, input: ExplainContextInput): Asked {
  return {
    kind: 'context',
    query: input.triggerPrompt,
    filter: filterOfContext(context, prepareContext(context, input)),
    answer: (memory) => answerContext(context, input, memory),
  };
}

/** The filter is that of the prepared query itself, so that an explanation cannot contradict the answer. */
function askQuery(context: MemoryContext, { query, kind, memory: _memory, ...filter }: ExplainQueryInput): Asked {
  const search = { ...filter, query };
  const recall = { ...filter, topic: query };
  const isSearch = kind === 'search';
  return {
    kind: kind ?? 'recall',
    query,
    filter: (isSearch ? prepareSearch(context, search) : prepareRecall(context, recall)).filter,
    answer: async (memory) => {
      const outcome = await (isSearch ? searchMemories(context, search) : recallMemories(context, recall));
      return explainOutcome(context.config.memory.retrieval, outcome, memory);
    },
  };
}

type Part = Partial<MemoryExplanation> & { reason: string };

function explainOutcome(
  retrieval: Config['memory']['retrieval'],
  outcome: RecallOutcome | SearchOutcome,
  { id }: MemoryReference,
): Part {
  const considered = outcome.considered.find((one) => one.id === id);
  if (considered === undefined) return noMatch(matchesToRank(outcome.limit, retrieval));
  const scores = scoresOf({ ...considered, composite: compositeOf(considered) });
  const place = outcome.results.findIndex(({ memory }) => memory.row.id === id);
  if (place >= 0) return came(place, scores);
  const stage = considered.droppedBy ?? 'not_found';
  return { stage, reason: reasonOf(stage, scores, outcome.limit, retrieval), scores };
}

async function answerContext(
  context: MemoryContext,
  input: ExplainContextInput,
  { type, id }: MemoryReference,
): Promise<Part> {
  const { retrieval } = context.config.memory;
  const assembled = await assembleContext(context, input);
  const candidate = assembled.candidates.find((one) => one.id === id);
  const scores = candidate === undefined ? null : scoresOf(candidate);
  for (const section of sectionNames) {
    const shown = assembled.fitted.shown[section];
    const place = shown.findIndex(({ line }) => line.memory.row.id === id);
    if (place >= 0) return { ...came(place, scores), section, tokens: shown[place]?.tokens ?? null };
  }
  const drop = assembled.dropped.find((one) => one.id === id);
  if (drop !== undefined) {
    const reason = drop.reason ?? reasonOf(drop.stage, scores, assembled.mostOfType, retrieval);
    return { stage: drop.stage, reason, scores };
  }
  if (type !== 'episode') return noMatch(assembled.mostOfType);
  return { stage: 'limit', reason: `it is not among the newest ${retrieval.context.recentEpisodes} of its butler` };
}

function scoresOf({
  score,
  relevance,
  parts,
  composite,
}: Omit<ReceiptCandidate, 'type' | 'id'>): NonNullable<Part['scores']> {
  return { score, relevance, parts, composite };
}

function came(place: number, scores: Part['scores'] = null): Part {
  return { came: true, place: place + 1, scores, reason: `it came in place ${place + 1}` };
}

function noMatch(mostOfType: number): Part {
  const reason = `neither by its words nor by its meaning is it among the best ${mostOfType} matches of its type`;
  return { stage: 'no_match', reason };
}

function reasonOf(
  stage: string,
  scores: Part['scores'] | undefined,
  limit: number,
  retrieval: Config['memory']['retrieval'],
): string {
  const relevance = Number((scores?.relevance ?? 0).toPrecision(3));
  const similarity = Number((scores?.parts?.similarity ?? 0).toPrecision(3));
  const reasons: Record<string, string> = {
    relevance_floor: `its relevance is ${relevance} of the best, below ${retrieval.relevanceFloor}`,
    min_similarity: `it shares no word with the query, and its similarity of ${similarity} is below ${retrieval.minSimilarity}`,
    duplicate: 'a memory that ranks better says the same',
    cluster: 'others of its subject and predicate rank better, and these have their share',
    limit: `it is not among the best ${limit}`,
    not_found: 'it was deleted meanwhile',
  };
  return reasons[stage] ?? `the stage ${stage} dropped it`;
}
