import { inlined } from '../bridge/operation.ts';
import { memoryFields, omissionFields, problemFields, ruleFields, type MemoryResult } from './fields.ts';
import { writes, type GroupedTool } from './tool.ts';

type RuleResult = MemoryResult & { maturity: string };

export const feedbackTools: readonly GroupedTool[] = [
  {
    name: 'memory_confirm',
    title: 'Confirm a fact or rule',
    operation: /* GraphQL */ `
      mutation MemoryConfirm($input: MemoryWriteInput!) {
        confirmMemory(input: $input) { ... on ConfirmMemoryPayload { memory { ${memoryFields} } } ${problemFields} }
      }
    `,
    annotations: { ...writes, idempotentHint: true },
    describe: ({ type, id }: MemoryResult) => `Confirmed ${type} ${id}; its decay starts anew.`,
  },
  {
    name: 'memory_mark_helpful',
    title: 'Say that a rule helped',
    operation: markOperation('MemoryMarkHelpful', 'markRuleHelpful'),
    annotations: writes,
    describe: ({ id, maturity }: RuleResult) => `Noted: rule ${id} helped; it is ${maturity}.`,
  },
  {
    name: 'memory_mark_harmful',
    title: 'Say that a rule did harm',
    operation: markOperation('MemoryMarkHarmful', 'markRuleHarmful'),
    annotations: writes,
    describe: ({ id, maturity }: RuleResult) => `Noted: rule ${id} did harm; it is ${maturity}.`,
  },
];

function markOperation(name: string, field: string): string {
  return /* GraphQL */ `
    mutation ${name}($input: MarkRuleInput!) {
      ${field}(input: $input) {
        ... on MarkRulePayload { ${inlined}: rule { ${ruleFields} } ${omissionFields} }
        ${problemFields}
      }
    }
  `;
}
