import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';
import { ruleFields, type MemoryResult } from '../memory-fields.ts';

export const markRuleHarmfulTool: Tool = {
  name: 'memory_mark_harmful',
  title: 'Say that a rule did harm',
  group: 'feedback',
  operation: /* GraphQL */ `mutation MemoryMarkHarmful($input: MarkRuleInput!) { markRuleHarmful(input: $input) { __typename ... on MarkRulePayload { ${inlined}: rule { ${ruleFields} } redacted cut { field fromLength toLength } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, maturity }: MemoryResult & { maturity: string }) => `Noted: rule ${id} did harm; it is ${maturity}.`,
};
