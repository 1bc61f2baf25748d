import type { Tool } from '../tool.ts';
import { factFields, type MemoryResult } from '../memory-fields.ts';

export const storeFactTool: Tool = {
  name: 'memory_store_fact',
  title: 'Store a fact',
  operation: /* GraphQL */ `mutation MemoryStoreFact($input: StoreFactInput!) { storeFact(input: $input) { ${factFields} } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, content }: MemoryResult) => `Stored fact ${id}: ${content}`,
};
