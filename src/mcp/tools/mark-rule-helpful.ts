import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';
import { ruleFields, type MemoryResult } from '../memory-fields.ts';

export const markRuleHelpfulTool: Tool = {
  name: 'memory_mark_helpful',
  title: 'Say that a rule helped',
  group: 'feedback',
  operation: /* GraphQL */ `mutation MemoryMarkHelpful($input: MarkRuleInput!) { markRuleHelpful(input: $input) { __typename ... on MarkRulePayload { ${inlined}: rule { ${ruleFields} } redacted cut { field fromLength toLength } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, maturity }: MemoryResult & { maturity: string }) => `Noted: rule ${id} helped; it is ${maturity}.`,
};
