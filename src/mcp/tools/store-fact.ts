import { inertText } from '../../inert-text.ts';
import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';
import { factFields, type MemoryResult } from '../memory-fields.ts';

export const storeFactTool: Tool = {
  name: 'memory_store_fact',
  title: 'Store a fact',
  group: 'store',
  operation: /* GraphQL */ `mutation MemoryStoreFact($input: StoreFactInput!) { storeFact(input: $input) { __typename ... on StoreFactPayload { ${inlined}: fact { ${factFields} } redacted cut { field fromLength toLength } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, content }: MemoryResult) => `Stored fact ${id}: ${inertText(content)}`,
};
