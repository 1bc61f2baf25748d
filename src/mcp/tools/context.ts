import { reads, type GroupedTool } from './tool.ts';

/** The text, and the ids, sizes and scores of its items; not their content a second time. */
const contextFields = /* GraphQL */ `
  text
  tokensUsed
  tokenBudget
  tokenizer
  intent
  receiptId
  sections {
    name
    items {
      type
      id: uuid
      tokens
      score
    }
  }
`;

interface ContextResult {
  text: string;
}

export const contextTools: readonly GroupedTool[] = [
  {
    name: 'memory_context',
    title: 'Build a memory context',
    operation: /* GraphQL */ `
      query MemoryContext($input: ContextInput!) { context(input: $input, countReference: true) { ${contextFields} } }
    `,
    annotations: reads,
    describe: ({ text }: ContextResult) => text,
  },
  {
    name: 'memory_context_batch',
    title: 'Build several memory contexts',
    operation: /* GraphQL */ `
      query MemoryContextBatch($requests: [ContextInput!]!) {
        contextBatch(requests: $requests, countReference: true) { contexts { ${contextFields} } }
      }
    `,
    annotations: reads,
    describe: ({ contexts }: { contexts: ContextResult[] }) => contexts.map(({ text }) => text).join('\n\n---\n\n'),
  },
];
