import { inertText } from '../../shared/inert-text.ts';
import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';
import { factFields, type MemoryResult } from '../memory-fields.ts';

export const storeFactTool: Tool = {
  name: 'memory_store_fact',
  title: 'Store a fact',
  group: 'store',
  operation: /* GraphQL */ `mutation MemoryStoreFact($input: StoreFactInput!) { storeFact(input: $input) { __typename ... on StoreFactPayload { ${inlined}: fact { ${factFields} } confirmed redacted cut { field fromLength toLength } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, content, confirmed }: MemoryResult & { confirmed: boolean }) =>
    `${confirmed ? `Confirmed fact ${id}, which was known already` : `Stored fact ${id}`}: ${inertText(content)}`,
};
