import { inertText } from '../../shared/inert-text.ts';
import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';
import { ruleFields, type MemoryResult } from '../memory-fields.ts';

export const storeRuleTool: Tool = {
  name: 'memory_store_rule',
  title: 'Store a rule',
  group: 'store',
  operation: /* GraphQL */ `mutation MemoryStoreRule($input: StoreRuleInput!) { storeRule(input: $input) { __typename ... on StoreRulePayload { ${inlined}: rule { ${ruleFields} } confirmed redacted cut { field fromLength toLength } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, content, confirmed }: MemoryResult & { confirmed: boolean }) =>
    confirmed
      ? `Confirmed rule ${id}, which was known already: ${inertText(content)}`
      : `Stored rule ${id} as a candidate: ${inertText(content)}`,
};
