import { isFresh } from '../../memory/episodes/fresh.ts';
import { effectiveConfidence } from '../../memory/confidence.ts';
import { memoryTypeOf } from '../../memory/memories.ts';
import { viewedAt } from '../../memory/history/snapshots.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import type { LoadedMemory } from '../../retrieval/pipeline/load.ts';
import type { CompositeParts, MatchParts, Ranked } from '../../retrieval/pipeline/ranked.ts';
import { recallMemories, recallMemoriesBatch, type RecallInput } from '../../retrieval/recall.ts';
import { draftReceipt, keepReceipts } from '../../retrieval/receipts/receipts.ts';
import { searchMemories, searchMemoriesBatch, type SearchInput, type SearchOutcome } from '../../retrieval/search.ts';
import { searchModes, type SearchMode } from '../../retrieval/query/defaults.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { countReferenceArgument } from '../count-reference.ts';
import { GenerationEnum, IntentEnum, MaturityEnum, MemoryTypeEnum, PermanenceEnum, ValidityEnum } from '../enums.ts';
import { MemoryInterface, referenceOf } from './memory.ts';

const modeDescriptions: Record<SearchMode, { description: string }> = {
  hybrid: { description: 'By words and by meaning.' },
  semantic: { description: 'By meaning alone.' },
  keyword: { description: 'By words alone.' },
};

const SearchModeEnum = builder.enumType('SearchMode', {
  description: 'How memories are matched.',
  values: Object.fromEntries(searchModes.map((mode) => [mode, modeDescriptions[mode]])) as typeof modeDescriptions,
});

export const MatchPartsRef = builder.objectRef<MatchParts>('MatchParts').implement({
  description: 'How well a memory matches, by channel.',
  fields: (t) => ({
    similarity: t.exposeFloat('similarity', {
      nullable: true,
      description: 'Cosine similarity to the query; null where meaning was not asked for.',
    }),
    semanticRank: t.exposeInt('semanticRank', { nullable: true, description: 'Its place by meaning; 1 is the best.' }),
    keywordScore: t.exposeFloat('keywordScore', { description: 'BM25 of its own words.' }),
    lentScore: t.exposeFloat('lentScore', { description: 'BM25 score that neighbouring episodes of its session add.' }),
    keywordRank: t.exposeInt('keywordRank', { nullable: true, description: 'Its place by words; 1 is the best.' }),
    lentSimilarity: t.exposeFloat('lentSimilarity', {
      nullable: true,
      description: 'Similarity that the question lent to which it replies; counts where it is more than its own.',
    }),
    sessionSimilarity: t.exposeFloat('sessionSimilarity', {
      nullable: true,
      description:
        'Best similarity in the session of an episode: the further below that of other sessions, the less it counts.',
    }),
    asks: t.exposeBoolean('asks', {
      nullable: true,
      description: 'Whether it is an episode that asks something, which counts less than one that tells something.',
    }),
    fusionScore: t.exposeFloat('fusionScore', {
      nullable: true,
      description:
        'Stage 1 of a hybrid search: 1 / (k + rank), summed over both channels. Null in the modes of one channel.',
    }),
    rerankScore: t.exposeFloat('rerankScore', {
      nullable: true,
      description:
        'Stage 2: the weighted features of the match, or what a cross-encoder says of it, 0 to 1. Null where rerank is off or the cross-encoder did not read it.',
    }),
    coverage: t.exposeFloat('coverage', {
      nullable: true,
      description:
        "Share of the question's words, weighed by rarity, that it or the gloss of its predicate has. Null in a search.",
    }),
    subjectPenalty: t.exposeFloat('subjectPenalty', {
      nullable: true,
      description: 'Penalty for being about somebody else. Null in a search.',
    }),
    tokenSimilarity: t.exposeFloat('tokenSimilarity', {
      nullable: true,
      description:
        'How well it has each word of the question, by meaning, -1 to 1. Null in a search, and where it was not compared word by word: only the best matches are, if the model knows words.',
    }),
    matchScore: t.exposeFloat('matchScore', {
      nullable: true,
      description:
        'Similarity, token similarity, coverage and penalty together, weighted: what the relevance is measured on. Null in a search.',
    }),
  }),
});

export const ScorePartsRef = builder.objectRef<CompositeParts>('ScoreParts').implement({
  description:
    'What the score of a recall is made of. Each part is from 0 to 1 and has its weight in the configuration.',
  fields: (t) => ({
    relevance: t.exposeFloat('relevance', { description: 'The probability that it answers the question.' }),
    importance: t.exposeFloat('importance', { description: 'A tenth of its importance.' }),
    recency: t.exposeFloat('recency', { description: 'How lately it was asked for or stored.' }),
    confidence: t.exposeFloat('confidence', { description: 'Its effective confidence.' }),
    maturityWeight: t.exposeFloat('maturityWeight', {
      description: 'What the sum is multiplied by; 1 for all but rules.',
    }),
    baseline: t.exposeFloat('baseline', {
      description: 'The weighted sum. It decides between memories that match nearly as well.',
    }),
  }),
});

const MemoryMatchRef = builder.objectRef<Ranked<LoadedMemory>>('MemoryMatch').implement({
  description: 'A memory that was found, with its scores.',
  fields: (t) => ({
    memory: t.field({ type: MemoryInterface, description: 'The memory.', resolve: ({ memory }) => memory.row }),
    type: t.field({
      type: MemoryTypeEnum,
      description: 'The memory type: episode, fact or rule.',
      resolve: ({ memory }) => memoryTypeOf(memory.row),
    }),
    uuid: t.field({ type: 'UUID', description: 'Its UUID.', resolve: ({ memory }) => memory.row.id }),
    score: t.exposeFloat('score', { description: 'What it is ordered by.' }),
    relevance: t.exposeFloat('relevance', {
      description:
        'How well it matches, 0 to 1. In a recall the probability that it answers the question, which compares between queries; in a search a share of the best match.',
    }),
    isWarning: t.boolean({
      description: 'Whether it is an anti-pattern: a rule that says what not to do.',
      resolve: ({ memory }) => memory.maturity === 'anti_pattern',
    }),
    isFresh: t.boolean({
      description: 'Whether it is an episode that waits to be consolidated: nothing was learned from it so far.',
      resolve: ({ memory }) => memory.type === 'episode' && isFresh(memory.row),
    }),
    parts: t.field({
      type: MatchPartsRef,
      description: 'How well it matches, by channel.',
      resolve: ({ parts }) => parts.match as MatchParts,
    }),
    scoreParts: t.field({
      type: ScorePartsRef,
      nullable: true,
      description: 'What the score is made of; null for a search, whose score is the match alone.',
      resolve: ({ parts }) => parts.composite,
    }),
    effectiveConfidence: t.float({
      nullable: true,
      description: 'The confidence now, or at the moment that was asked for; null for an episode, which happened.',
      resolve: ({ memory: { row } }, _args, { memory }) =>
        'confidence' in row ? effectiveConfidence(row, viewedAt(row, memory.now())) : null,
    }),
  }),
});

const SearchAnswerRef = builder.objectRef<Answer>('SearchAnswer').implement({
  description: 'The memories found.',
  fields: (t) => ({
    query: t.exposeString('query', { description: 'The text as it was used.' }),
    mode: t.expose('mode', { type: SearchModeEnum, description: 'How memories were matched.' }),
    intent: t.expose('intent', { type: IntentEnum, description: 'What the text seems to ask for.' }),
    candidates: t.int({
      description: 'How many memories were ranked.',
      resolve: ({ considered }) => considered.length,
    }),
    receiptId: t.field({
      type: 'UUID',
      nullable: true,
      description: 'The receipt of a recall, by which it can be opened again; null for a search, which keeps none.',
      resolve: ({ receiptId }) => receiptId ?? null,
    }),
    results: t.field({
      type: [MemoryMatchRef],
      description: 'The best of them: by score, then the newer, then the lesser id.',
      resolve: ({ results }) => results,
    }),
  }),
});

const filterFields = (t: Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]) => ({
  scope: t.string({
    description: 'Facts and rules of "global" and this scope; episodes of this butler. Left out: all.',
  }),
  mode: t.field({ type: SearchModeEnum, description: 'How memories are matched. Default from the configuration.' }),
  limit: t.int({ description: 'How many at most, from 1 to 1000. Default from the configuration.' }),
  sessionId: t.string({
    description: 'UUID of the session that asks. Default for promotion: one session for each butler and UTC day.',
  }),
  minConfidence: t.float({ description: 'Least effective confidence of facts and rules; 0 lets fading ones through.' }),
  validity: t.field({
    type: [ValidityEnum],
    description:
      'Any of these. Default: active and fading. `retracted` finds facts and rules that were forgotten; it needs the role operator or admin.',
  }),
  generation: t.field({ type: [GenerationEnum], description: 'Any of these.' }),
  permanence: t.field({ type: [PermanenceEnum], description: 'Any of these. Facts and rules.' }),
  maturity: t.field({ type: [MaturityEnum], description: 'Any of these. Rules only.' }),
  subject: t.string({ description: 'The subject of a fact.' }),
  predicate: t.string({ description: 'What a fact says of its subject.' }),
  butler: t.string({ description: 'The butler that observed or learned it.' }),
  tags: t.stringList({ description: 'All of these.' }),
  from: t.field({ type: 'DateTime', description: 'Happened (observed, or else stored) at this moment or later.' }),
  to: t.field({ type: 'DateTime', description: 'Happened before this moment, which must be after `from`.' }),
  asOf: t.field({
    type: 'DateTime',
    description:
      'Memories as they were at this moment: which there were, their text, validity, confidence and maturity. Found by the words and the meaning of then. Counts no reference.',
  }),
  validAt: t.field({
    type: 'DateTime',
    description:
      'Facts that held at this date, past or to come, by what is known now or, with `asOf`, then; whether they still hold does not matter. Default: those that hold now. Other memories are as they are. Counts no reference.',
  }),
});

const SearchInputType = builder.inputType('SearchInput', {
  description: 'What to look for, and where.',
  fields: (t) => ({
    query: t.string({
      required: true,
      description: 'Words or a question. "Quoted phrases" must occur, -excluded words must not.',
    }),
    types: t.field({ type: [MemoryTypeEnum], description: 'Only these. Default: all three.' }),
    ...filterFields(t),
  }),
});

const RecallInputType = builder.inputType('RecallInput', {
  description: 'What to recall, and where.',
  fields: (t) => ({
    topic: t.string({ required: true, description: 'What it is about, in any words.' }),
    types: t.field({
      type: [MemoryTypeEnum],
      description:
        'Only these. Default: facts and rules, and last at most three episodes that wait to be consolidated.',
    }),
    ...filterFields(t),
  }),
});

/** Its answers are there already: each costs what is asked of it, and no more. */
const inMemory = { field: 0, multiplier: 1 };

type Answer = SearchOutcome & { receiptId?: string };

const SearchBatchRef = builder.objectRef<{ answers: Answer[] }>('SearchBatch').implement({
  description: 'What several searches or recalls found.',
  fields: (t) => ({
    answers: t.field({
      type: [SearchAnswerRef],
      description: 'One for each input, in their order.',
      complexity: inMemory,
      resolve: ({ answers }) => answers,
    }),
  }),
});

/** A look at another time says nothing about what matters now. */
function countReferences(
  { memory, references }: GraphQLContext,
  inputs: readonly { asOf?: Date | null | undefined; validAt?: Date | null | undefined }[],
  outcomes: readonly SearchOutcome[],
): void {
  const present = outcomes.filter((_, place) => inputs[place]?.asOf == null && inputs[place]?.validAt == null);
  for (const { results, sessionId } of present) {
    const returned = results.map((found) => referenceOf(found.memory.row));
    references.enqueue(memory, returned, sessionId);
  }
}

interface Asked<Input> {
  inputs: readonly Input[];
  countReference: boolean;
}

function answerSearches(
  context: GraphQLContext,
  { inputs, countReference }: Asked<SearchInput>,
  outcomes: readonly SearchOutcome[],
): Answer[] {
  if (countReference) countReferences(context, inputs, outcomes);
  return [...outcomes];
}

async function answerRecalls(
  context: GraphQLContext,
  { inputs, countReference }: Asked<RecallInput>,
  outcomes: readonly SearchOutcome[],
): Promise<Answer[]> {
  const { memory } = context;
  const drafts = outcomes.map((outcome, place) =>
    draftReceipt(memory, outcome, {
      kind: 'recall',
      butler: onlyButlerOf(memory) ?? inputs[place]?.scope ?? null,
      sessionId: outcome.sessionId,
      asOf: inputs[place]?.asOf,
    }),
  );
  const receiptIds = await keepReceipts(memory, drafts);
  if (countReference) countReferences(context, inputs, outcomes);
  return outcomes.map((outcome, place) => ({ ...outcome, receiptId: receiptIds[place] as string }));
}

builder.queryFields((t) => ({
  search: t.field({
    type: SearchAnswerRef,
    description: 'Finds the memories that match best, across types.',
    complexity: 20,
    args: {
      ...countReferenceArgument,
      input: t.arg({ type: SearchInputType, required: true, description: 'What to look for.' }),
    },
    resolve: async (_root, { input, countReference }, context) => {
      const outcome = await searchMemories(context.memory, input);
      return answerSearches(context, { inputs: [input], countReference }, [outcome])[0] as Answer;
    },
  }),
  searchBatch: t.field({
    type: SearchBatchRef,
    description: 'Several searches in one go. All are checked before one is made.',
    complexity: ({ inputs }) => 15 * inputs.length,
    args: {
      ...countReferenceArgument,
      inputs: t.arg({ type: [SearchInputType], required: true, description: 'At most 100 searches.' }),
    },
    resolve: async (_root, { inputs, countReference }, context) => {
      const outcomes = await searchMemoriesBatch(context.memory, inputs);
      return { answers: answerSearches(context, { inputs, countReference }, outcomes) };
    },
  }),
  recall: t.field({
    type: SearchAnswerRef,
    description:
      'Recalls what matters most about a topic: relevance, importance, recency and confidence together. Episodes come without what no longer holds.',
    complexity: 20,
    args: {
      ...countReferenceArgument,
      input: t.arg({ type: RecallInputType, required: true, description: 'What to recall.' }),
    },
    resolve: async (_root, { input, countReference }, context) => {
      const outcome = await recallMemories(context.memory, input);
      return (await answerRecalls(context, { inputs: [input], countReference }, [outcome]))[0] as Answer;
    },
  }),
  recallBatch: t.field({
    type: SearchBatchRef,
    description: 'Several recalls in one go. All are checked before one is made.',
    complexity: ({ inputs }) => 15 * inputs.length,
    args: {
      ...countReferenceArgument,
      inputs: t.arg({ type: [RecallInputType], required: true, description: 'At most 100 recalls.' }),
    },
    resolve: async (_root, { inputs, countReference }, context) => {
      const outcomes = await recallMemoriesBatch(context.memory, inputs);
      return { answers: await answerRecalls(context, { inputs, countReference }, outcomes) };
    },
  }),
}));
