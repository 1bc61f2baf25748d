import { contextFields, type ContextResult } from '../match-fields.ts';
import type { Tool } from '../tool.ts';

export const contextBatchTool: Tool = {
  name: 'memory_context_batch',
  title: 'Build several memory contexts',
  group: 'context',
  operation: /* GraphQL */ `
    query MemoryContextBatch($requests: [ContextInput!]!) {
      contextBatch(requests: $requests, countReference: true) { contexts { ${contextFields} } }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ contexts }: { contexts: ContextResult[] }) => contexts.map(({ text }) => text).join('\n\n---\n\n'),
};
