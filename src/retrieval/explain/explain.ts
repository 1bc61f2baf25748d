import type { MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isFresh } from '../../memory/episodes/fresh.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { referenceKey, type Memory } from '../../memory/memories.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { resolveReference } from '../../memory/resolve-id.ts';
import { assembleContext, prepareContext, type ContextInput } from '../context/context.ts';
import { filterOfContext } from '../context/rank-context.ts';
import { sectionNames, type SectionName } from '../context/sections.ts';
import { loadStates } from '../pipeline/load.ts';
import type { DropStage, Ranked } from '../pipeline/ranked.ts';
import { relevanceFloor } from '../pipeline/score.ts';
import { matchesToRank } from '../query/defaults.ts';
import { prepareFresh, prepareRecall, recallMemories, type RecallInput } from '../recall.ts';
import { prepareSearch, searchMemories, type SearchOutcome } from '../search.ts';
import { findFilterDrop } from './filter-drop.ts';

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
  /** What it was ranked by; null if it was not ranked. */
  ranked: Ranked<MemoryReference> | null;
}

/**
 * Explains why a memory is in a context, recall or search, or which stage is the first to drop it, as it would be answered
 * now or as of a moment. Runs the same functions that answer; keeps no receipt and counts no reference.
 */
export async function explainMemory(
  context: MemoryContext,
  input: ExplainContextInput | ExplainQueryInput,
): Promise<MemoryExplanation> {
  const memory = await resolveReference(context, input.memory);
  const asked = 'triggerPrompt' in input ? askContext(context, input) : askQuery(context, input);
  const found = await findInAnyState(context, memory, asked.filter);
  const filterDrop = found === null ? null : await findFilterDrop(context, found, asked.filterFor(found));
  // To a butler, what is in the scope of another one does not exist.
  const isHidden = filterDrop?.stage === 'scope' && onlyButlerOf(context) !== null;
  const part =
    found === null || isHidden ? describeMissing(memory, asked.filter) : (filterDrop ?? (await asked.answer(memory)));
  return {
    memory,
    kind: asked.kind,
    query: asked.query,
    came: false,
    stage: null,
    place: null,
    section: null,
    tokens: null,
    ranked: null,
    ...part,
  };
}

type Part = Partial<MemoryExplanation> & { reason: string };

interface Asked {
  kind: MemoryExplanation['kind'];
  query: string;
  filter: MemoryFilter;
  /** The filter that a memory has to pass. */
  filterFor(memory: Memory): MemoryFilter;
  answer(memory: MemoryReference): Promise<Part>;
}

async function findInAnyState(
  context: MemoryContext,
  reference: MemoryReference,
  filter: MemoryFilter,
): Promise<Memory | null> {
  const [rows] = await loadStates(context, [{ filter, references: [reference] }]);
  const row = rows?.get(referenceKey(reference));
  return row === undefined ? null : ({ type: reference.type, row } as Memory);
}

function describeMissing({ type, id }: MemoryReference, { isPast }: MemoryFilter): Part {
  return { stage: 'not_found', reason: `${type} ${id} ${isPast ? 'was not there then' : 'is not there'}` };
}

function askContext(context: MemoryContext, input: ExplainContextInput): Asked {
  const filter = filterOfContext(context, prepareContext(context, input));
  return {
    kind: 'context',
    query: input.triggerPrompt,
    filter,
    filterFor: () => filter,
    answer: (memory) => explainInContext(context, input, memory),
  };
}

/** The filter is that of the prepared query itself, so that an explanation cannot contradict the answer. */
function askQuery(context: MemoryContext, { query, kind, memory: _memory, ...given }: ExplainQueryInput): Asked {
  const search = { ...given, query };
  const recall = { ...given, topic: query };
  const isSearch = kind === 'search';
  const { filter } = isSearch ? prepareSearch(context, search) : prepareRecall(context, recall);
  return {
    kind: kind ?? 'recall',
    query,
    filter,
    // A recall looks for fresh episodes by a filter of its own.
    filterFor: ({ type, row }) =>
      (!isSearch && type === 'episode' && isFresh(row) ? prepareFresh(context, recall)?.filter : null) ?? filter,
    answer: async (memory) => {
      const outcome = await (isSearch ? searchMemories(context, search) : recallMemories(context, recall));
      return explainOutcome(context, outcome, memory);
    },
  };
}

function explainOutcome({ config }: MemoryContext, outcome: SearchOutcome, { id }: MemoryReference): Part {
  const ranked = outcome.considered.find(({ memory }) => memory.id === id);
  if (ranked === undefined) return describeNoMatch(matchesToRank(outcome.limit, config.memory.retrieval));
  const place = outcome.results.findIndex(({ memory }) => memory.id === id);
  return place >= 0 ? describeResult(place, ranked) : describeDrop(ranked, outcome.limit);
}

async function explainInContext(
  context: MemoryContext,
  input: ExplainContextInput,
  { type, id }: MemoryReference,
): Promise<Part> {
  const { considered, fitted, mostOfType } = await assembleContext(context, input);
  const ranked = considered.find(({ memory }) => memory.id === id);
  if (ranked === undefined && type === 'episode') {
    const { recentEpisodes } = context.config.memory.retrieval.context;
    return {
      stage: 'limit',
      reason: `it is not among the newest ${recentEpisodes} of its butler, nor among the fresh ones that match`,
    };
  }
  if (ranked === undefined) return describeNoMatch(mostOfType);
  for (const section of sectionNames) {
    const place = fitted.shown[section].findIndex(({ line }) => line.ranked.memory.id === id);
    const tokens = fitted.shown[section][place]?.tokens ?? null;
    if (place >= 0) return { ...describeResult(place, ranked), section, tokens };
  }
  return describeDrop(ranked, mostOfType);
}

function describeResult(place: number, ranked: Ranked<MemoryReference>): Part {
  return { came: true, place: place + 1, ranked, reason: `it came in place ${place + 1}` };
}

function describeNoMatch(mostOfType: number): Part {
  const reason = `neither by its words nor by its meaning is it among the best ${mostOfType} matches of its type`;
  return { stage: 'no_match', reason };
}

function describeDrop(ranked: Ranked<MemoryReference>, limit: number): Part {
  const stage = ranked.droppedBy;
  const relevance = Number(ranked.relevance.toPrecision(3));
  const reasons: Partial<Record<DropStage, string>> = {
    relevance_floor: `its relevance is ${relevance}, below ${relevanceFloor}`,
    duplicate: 'a memory that ranks better says the same',
    outdated: 'it says only what no longer holds, or what the facts and rules of the context say',
    cluster: 'others of its subject and predicate rank better, and these have their share',
    limit: `it is not among the best ${limit}`,
    not_found: 'it was deleted meanwhile',
  };
  const known = stage === null ? undefined : reasons[stage];
  return { stage, reason: ranked.reason ?? known ?? `the stage ${stage} dropped it`, ranked };
}
