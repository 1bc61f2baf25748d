import type { Tool } from '../tool.ts';
import { ruleFields, type MemoryResult } from '../memory-fields.ts';

export const markRuleHarmfulTool: Tool = {
  name: 'memory_mark_harmful',
  title: 'Say that a rule did harm',
  operation: /* GraphQL */ `mutation MemoryMarkHarmful($input: MarkRuleInput!) { markRuleHarmful(input: $input) { ${ruleFields} } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, maturity }: MemoryResult & { maturity: string }) => `Noted: rule ${id} did harm; it is ${maturity}.`,
};
