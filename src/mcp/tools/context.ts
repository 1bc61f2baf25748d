import { contextFields, type ContextResult } from '../match-fields.ts';
import type { Tool } from '../tool.ts';

export const contextTool: Tool = {
  name: 'memory_context',
  title: 'Build a memory context',
  group: 'context',
  operation: /* GraphQL */ `
    query MemoryContext($input: ContextInput!) { context(input: $input, countReference: true) { ${contextFields} } }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ text }: ContextResult) => text,
};
