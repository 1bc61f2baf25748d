import { invalidInput } from '../../shared/errors.ts';
import { explainReceipt } from '../../retrieval/explain/explain-receipt.ts';
import { explainMemory, type MemoryExplanation } from '../../retrieval/explain/explain.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import type { DropStage, Ranked } from '../../retrieval/pipeline/ranked.ts';
import type { ReceiptChoice } from '../../retrieval/receipts/receipt-form.ts';
import { getReceipt, listDropped, type Receipt, type ReceiptSummary } from '../../retrieval/receipts/receipts.ts';
import { replayReceipt, type ReplayOutcome } from '../../retrieval/receipts/replay.ts';
import type { Intent } from '../../retrieval/query/intent.ts';
import type { TokenizerName } from '../../retrieval/context/tokenizers.ts';
import { builder } from '../builder.ts';
import { DropStageEnum, IntentEnum, MemoryTypeEnum, SectionNameEnum, TokenizerEnum } from '../enums.ts';
import { limitComplexity, limitDescription, readLimit, usualLimit } from '../limits.ts';
import { loadersOf } from '../loaders.ts';
import { MemoryInterface, referenceOf } from './memory.ts';
import { MatchPartsRef, ScorePartsRef } from './search.ts';
import { TextSpanType } from './text.ts';

/** Receipts, explanations and replays. */

const ReceiptKindEnum = builder.enumType('ReceiptKind', {
  description: 'The kind of read that a receipt records.',
  values: {
    context: { description: 'A context.' },
    recall: { description: 'A recall.' },
    search: { description: 'A search.' },
  } satisfies Record<Receipt['kind'], { description: string }>,
});

const CandidateRef = builder.objectRef<Ranked<MemoryReference>>('ReceiptCandidate').implement({
  description: 'A memory that was ranked, and by what.',
  fields: (t) => ({
    type: t.field({ type: MemoryTypeEnum, description: 'Memory type.', resolve: ({ memory }) => memory.type }),
    uuid: t.field({ type: 'UUID', description: 'UUID of the memory.', resolve: ({ memory }) => memory.id }),
    score: t.exposeFloat('score', { description: 'What it was ordered by.' }),
    relevance: t.exposeFloat('relevance', {
      description: 'How well it matched, 0 to 1: the probability that it answers the question.',
    }),
    parts: t.field({
      type: MatchPartsRef,
      nullable: true,
      description: 'How well it matched, by channel; null for what was not searched for.',
      resolve: ({ parts }) => parts.match,
    }),
    scoreParts: t.field({
      type: ScorePartsRef,
      nullable: true,
      description: 'What the score was made of; null for a search.',
      resolve: ({ parts }) => parts.composite,
    }),
  }),
});

const ChoiceRef = builder.objectRef<ReceiptChoice>('ReceiptChoice').implement({
  description: 'A memory that was shown, and in which state.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    uuid: t.expose('id', { type: 'UUID', description: 'UUID of the memory.' }),
    version: t.exposeInt('version', { description: 'The version that was shown.' }),
    score: t.exposeFloat('score', { description: 'Ranking score.' }),
    leftOut: t.field({
      type: [TextSpanType],
      description:
        'Parts of the text of an episode that the answer omits: they no longer hold, or another memory in it says the same.',
      resolve: ({ leftOut }) => [...leftOut],
    }),
    section: t.field({
      type: SectionNameEnum,
      nullable: true,
      description: 'Where in a context it stood.',
      resolve: ({ section }) => section,
    }),
    tokens: t.exposeInt('tokens', { nullable: true, description: 'How many tokens of a context it took.' }),
  }),
});

const DropRef = builder.objectRef<Ranked<MemoryReference>>('ReceiptDrop').implement({
  description: 'A memory that was ranked and not shown.',
  fields: (t) => ({
    type: t.field({ type: MemoryTypeEnum, description: 'Memory type.', resolve: ({ memory }) => memory.type }),
    uuid: t.field({ type: 'UUID', description: 'UUID of the memory.', resolve: ({ memory }) => memory.id }),
    stage: t.field({
      type: DropStageEnum,
      description: 'The stage that dropped it.',
      resolve: ({ droppedBy }) => droppedBy as DropStage,
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why, where the stage alone does not say it.' }),
  }),
});

type AnyReceipt = Receipt | ReceiptSummary;

const ReceiptFields = builder.interfaceRef<AnyReceipt>('ReceiptSummary').implement({
  description: 'The fields that every receipt has.',
  resolveType: (receipt) => ('chosen' in receipt ? 'Receipt' : 'ReceiptOfMemory'),
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'By which it is opened again.' }),
    kind: t.expose('kind', { type: ReceiptKindEnum, description: 'The kind of read.' }),
    butler: t.exposeString('butler', { nullable: true, description: 'The butler that it was for.' }),
    sessionId: t.expose('sessionId', { type: 'UUID', nullable: true, description: 'In which session.' }),
    requestId: t.exposeString('requestId', { nullable: true, description: 'Id of the request.' }),
    query: t.exposeString('query', { description: 'The text that was asked with.' }),
    intent: t.field({
      type: IntentEnum,
      nullable: true,
      description: 'What it was taken to ask for.',
      // The column is text, and only outcomes are written to it.
      resolve: ({ intent }) => intent as Intent | null,
    }),
    tokenBudget: t.exposeInt('tokenBudget', { nullable: true, description: 'Tokens that a context might take.' }),
    tokensUsed: t.exposeInt('tokensUsed', { nullable: true, description: 'Tokens that it took.' }),
    asOf: t.expose('asOf', {
      type: 'DateTime',
      nullable: true,
      description: 'The past moment that was asked about; null for the present.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it is kept.' }),
  }),
});

const ReceiptRef = builder.objectRef<Receipt>('Receipt').implement({
  description: 'The record of an answer: the memories shown, those left out and why, enough to open it again.',
  interfaces: [ReceiptFields],
  fields: (t) => ({
    tokenizer: t.field({
      type: TokenizerEnum,
      nullable: true,
      description: 'What counted the tokens.',
      resolve: ({ tokenizer }) => tokenizer as TokenizerName | null,
    }),
    configurationDigest: t.exposeString('configurationDigest', {
      description: 'Of the configuration that chose; another one may choose otherwise.',
    }),
    stageMilliseconds: t.field({
      type: 'JSONObject',
      description: 'Milliseconds by stage.',
      resolve: ({ stageMilliseconds }) => stageMilliseconds,
    }),
    candidates: t.field({
      type: [CandidateRef],
      description: 'What was ranked, best first.',
      resolve: ({ candidates }) => candidates,
    }),
    chosen: t.field({
      type: [ChoiceRef],
      description: 'The memories shown, in order.',
      resolve: ({ chosen }) => chosen,
    }),
    dropped: t.field({ type: [DropRef], description: 'The memories left out.', resolve: listDropped }),
  }),
});

const ReceiptOfMemoryRef = builder.objectRef<ReceiptSummary>('ReceiptOfMemory').implement({
  description: 'A receipt as one of those that carried a memory.',
  interfaces: [ReceiptFields],
  fields: (t) => ({
    version: t.exposeInt('version', { nullable: true, description: 'The version of the memory that it showed.' }),
  }),
});

builder.interfaceFields(MemoryInterface, (t) => ({
  receipts: t.field({
    type: [ReceiptOfMemoryRef],
    description: 'Every context, recall and search that showed it, newest first.',
    complexity: limitComplexity,
    args: { limit: t.arg.int({ defaultValue: usualLimit, description: limitDescription }) },
    resolve: (row, { limit }, { memory }) =>
      loadersOf(memory).receipts.load({
        reference: referenceOf(row),
        choice: { limit: readLimit(limit) },
      }),
  }),
}));

const ExplanationRef = builder.objectRef<MemoryExplanation>('MemoryExplanation').implement({
  description: 'Why a memory comes, or which stage is the first to drop it, as it would be answered now.',
  fields: (t) => ({
    type: t.field({
      type: MemoryTypeEnum,
      description: 'The memory type: episode, fact or rule.',
      resolve: ({ memory }) => memory.type,
    }),
    uuid: t.field({ type: 'UUID', description: 'UUID of the memory.', resolve: ({ memory }) => memory.id }),
    came: t.exposeBoolean('came', { description: 'Whether the answer contains the memory.' }),
    stage: t.expose('stage', {
      type: DropStageEnum,
      nullable: true,
      description: 'The first stage that dropped it; null if it came.',
    }),
    reason: t.exposeString('reason', { description: 'The reason, as one sentence.' }),
    place: t.exposeInt('place', { nullable: true, description: 'Its place in the answer, from 1.' }),
    section: t.field({
      type: SectionNameEnum,
      nullable: true,
      description: 'The section of a context that it is in.',
      resolve: ({ section }) => section,
    }),
    tokens: t.exposeInt('tokens', { nullable: true, description: 'How many tokens it takes.' }),
    score: t.float({
      nullable: true,
      description: 'What it was ranked by.',
      resolve: ({ ranked }) => ranked?.score ?? null,
    }),
    relevance: t.float({
      nullable: true,
      description: 'How well it matches, as a share of the best.',
      resolve: ({ ranked }) => ranked?.relevance ?? null,
    }),
    parts: t.field({
      type: MatchPartsRef,
      nullable: true,
      description: 'How well it matches, by channel.',
      resolve: ({ ranked }) => ranked?.parts.match ?? null,
    }),
    scoreParts: t.field({
      type: ScorePartsRef,
      nullable: true,
      description: 'What the score is made of.',
      resolve: ({ ranked }) => ranked?.parts.composite ?? null,
    }),
  }),
});

interface AccountShape {
  account: string;
  receipt: Receipt | null;
  memory: MemoryExplanation | null;
}

const AccountRef = builder.objectRef<AccountShape>('Account').implement({
  description: 'Explanation of the answer to a recall, search or context.',
  fields: (t) => ({
    account: t.exposeString('account', { description: 'The explanation as text, one finding a line.' }),
    receipt: t.field({
      type: ReceiptRef,
      nullable: true,
      description: 'The receipt that was explained.',
      resolve: ({ receipt }) => receipt,
    }),
    memory: t.field({
      type: ExplanationRef,
      nullable: true,
      description: 'Why the memory asked about is in the answer, or is not.',
      resolve: ({ memory }) => memory,
    }),
  }),
});

const ExplainInput = builder.inputType('ExplainInput', {
  description: 'A receipt; or a question and a memory, to learn why the one brings or does not bring the other.',
  fields: (t) => ({
    receiptId: t.string({ description: 'UUID of a receipt to explain; then without the other fields.' }),
    query: t.string({ description: 'Query or prompt to explain.' }),
    type: t.field({ type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    id: t.string({ description: 'UUID or handle of the memory.' }),
    kind: t.field({ type: ReceiptKindEnum, description: 'Kind of request that the text is for. Default recall.' }),
    types: t.field({
      type: [MemoryTypeEnum],
      description:
        'The `types` argument of the recall or search. Default: facts and rules for a recall, all for a search.',
    }),
    scope: t.string({ description: 'Of the recall or search; for a context the butler, which it needs.' }),
    limit: t.int({ description: 'Of the recall or search.' }),
    asOf: t.field({ type: 'DateTime', description: 'Of the recall or search: memories as they were at this moment.' }),
    tokenBudget: t.int({ description: 'Of the context.' }),
  }),
});

const ReplayRef = builder.objectRef<ReplayOutcome>('Replay').implement({
  description: 'A past answer once more, from the versions that it showed.',
  fields: (t) => ({
    receipt: t.field({ type: ReceiptRef, description: 'The receipt.', resolve: ({ receipt }) => receipt }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'The text of a context; null for a recall or search.',
    }),
    isExact: t.exposeBoolean('isExact', { description: 'Whether it is what was given out, to the byte.' }),
    memories: t.field({
      type: [MemoryInterface],
      description: 'The memories shown, in the version that was shown.',
      resolve: ({ memories }) => memories.map(({ row }) => row),
    }),
  }),
});

builder.queryFields((t) => ({
  receipt: t.field({
    type: ReceiptRef,
    description: 'One receipt by its UUID.',
    args: { id: t.arg.string({ required: true, description: 'UUID of the receipt.' }) },
    resolve: (_root, { id }, { memory }) => getReceipt(memory, id),
  }),
  replay: t.field({
    type: ReplayRef,
    description: 'A past answer once more, whatever became of its memories since.',
    complexity: 20,
    args: { receiptId: t.arg.string({ required: true, description: 'UUID of the receipt.' }) },
    resolve: (_root, { receiptId }, { memory }) => replayReceipt(memory, receiptId),
  }),
  explain: t.field({
    type: AccountRef,
    description:
      'Why an answer was what it was, by its receipt; or why a memory comes or does not come for a text, with the stage that drops it.',
    complexity: 40,
    args: { input: t.arg({ type: ExplainInput, required: true, description: 'What is to be explained.' }) },
    resolve: async (_root, { input }, { memory }): Promise<AccountShape> => {
      const { receiptId, query, type, id, kind, types, scope, limit, asOf, tokenBudget } = input;
      if (receiptId != null) return { ...(await explainReceipt(memory, receiptId)), memory: null };
      if (query == null || type == null || id == null) {
        throw invalidInput('input', 'receipt_id, or query, type and id', Object.keys(input));
      }
      const reference = { type, id };
      if (kind === 'context' && scope == null) throw invalidInput('scope', 'the butler of the context', scope);
      if (kind === 'context' && types != null) throw invalidInput('types', 'left out for a context', types);
      if (kind === 'context' && asOf != null) throw invalidInput('as_of', 'left out for a context', asOf);
      const explanation = await explainMemory(
        memory,
        kind === 'context'
          ? { triggerPrompt: query, butler: scope ?? '', tokenBudget, memory: reference }
          : { query, kind, scope, limit, asOf, types, memory: reference },
      );
      return { account: explanation.reason, receipt: null, memory: explanation };
    },
  }),
}));
