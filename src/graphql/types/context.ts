import {
  buildContext,
  buildContextBatch,
  type ContextOutcome,
  type ContextSection,
} from '../../retrieval/context/context.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { countShownArgument } from '../count-reference.ts';
import { IntentEnum, MemoryTypeEnum, SectionNameEnum, TokenizerEnum } from '../enums.ts';

/** The work is done by the query that they belong to: to read more or fewer of them costs nothing. */
const inMemory = { field: 0, multiplier: 1 };

const ContextItemRef = builder.objectRef<ContextSection['items'][number]>('ContextItem').implement({
  description: 'One line of a context.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    uuid: t.expose('id', { type: 'UUID', description: 'UUID of the memory.' }),
    version: t.exposeInt('version', { description: 'Version of the memory that is shown.' }),
    line: t.exposeString('line', { description: 'The line itself.' }),
    tokens: t.exposeInt('tokens', { description: 'How many tokens it takes.' }),
    score: t.exposeFloat('score', { description: 'Ranking score.' }),
  }),
});

const ContextSectionRef = builder.objectRef<ContextSection>('ContextSection').implement({
  description: 'The lines of one heading.',
  fields: (t) => ({
    name: t.expose('name', { type: SectionNameEnum, description: 'Which section it is.' }),
    items: t.field({
      type: [ContextItemRef],
      description: 'Its lines, in order.',
      complexity: inMemory,
      resolve: ({ items }) => items,
    }),
  }),
});

const ContextRef = builder.objectRef<ContextOutcome>('Context').implement({
  description: 'What a butler should know before it starts, within a number of tokens.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'Markdown for a system prompt; empty when nothing is known or fits.' }),
    tokensUsed: t.exposeInt('tokensUsed', { description: 'How many tokens the text takes.' }),
    tokenBudget: t.exposeInt('tokenBudget', { description: 'Token budget.' }),
    tokenizer: t.expose('tokenizer', { type: TokenizerEnum, description: 'Tokenizer that counted the tokens.' }),
    intent: t.expose('intent', { type: IntentEnum, description: 'Intent of the prompt, as it was recognized.' }),
    receiptId: t.expose('receiptId', { type: 'UUID', description: 'The receipt, by which it can be opened again.' }),
    sections: t.field({
      type: [ContextSectionRef],
      description: 'The sections that have a line, in the order of the text.',
      complexity: inMemory,
      resolve: ({ sections }) => sections,
    }),
  }),
});

const ContextInputType = builder.inputType('ContextInput', {
  description: 'The butler and its task.',
  fields: (t) => ({
    triggerPrompt: t.string({ required: true, description: 'What the butler is about to work on.' }),
    butler: t.string({
      required: true,
      description: 'The butler. Facts and rules are those of "global" and of it, episodes its own.',
    }),
    tokenBudget: t.int({ description: 'Tokens that the text may take. Default from the configuration; 0 gives none.' }),
    includeEpisodes: t.boolean({ description: 'Whether recent episodes come too. Default from the configuration.' }),
    sessionId: t.string({ description: 'UUID of the session that is going to read it.' }),
  }),
});

const ContextBatchRef = builder.objectRef<{ contexts: ContextOutcome[] }>('ContextBatch').implement({
  description: 'Several contexts.',
  fields: (t) => ({
    contexts: t.field({
      type: [ContextRef],
      description: 'One for each request, in their order.',
      complexity: inMemory,
      resolve: ({ contexts }) => contexts,
    }),
  }),
});

function countShown({ memory, references }: GraphQLContext, contexts: readonly ContextOutcome[]): void {
  references.enqueueShown(
    memory,
    contexts.flatMap(({ sections }) => sections.flatMap(({ items }) => items)),
  );
}

builder.queryFields((t) => ({
  context: t.field({
    type: ContextRef,
    description:
      'Puts together what a butler should know before it starts: facts, rules and recent episodes within a number of tokens. Keeps a receipt; counts no reference.',
    complexity: 40,
    args: {
      ...countShownArgument,
      input: t.arg({ type: ContextInputType, required: true, description: 'The butler and its task.' }),
    },
    resolve: async (_root, { input, countReference }, context) => {
      const outcome = await buildContext(context.memory, input);
      if (countReference) countShown(context, [outcome]);
      return outcome;
    },
  }),
  contextBatch: t.field({
    type: ContextBatchRef,
    description: 'Several contexts in one go.',
    complexity: ({ requests }) => 30 * requests.length,
    args: {
      ...countShownArgument,
      requests: t.arg({ type: [ContextInputType], required: true, description: 'From 1 to 50 requests.' }),
    },
    resolve: async (_root, { requests, countReference }, context) => {
      const contexts = await buildContextBatch(context.memory, requests);
      if (countReference) countShown(context, contexts);
      return { contexts };
    },
  }),
}));
