import { inlined } from '../bridge/operation.ts';
import {
  describeWrite,
  memoryFields,
  nameOf,
  omissionFields,
  outcomeFields,
  problemFields,
  ruleFields,
  stateInertly,
  type WrittenResult,
} from './fields.ts';
import { writes, type GroupedTool } from './tool.ts';

type RuleResult = WrittenResult & { maturity: string };

export const feedbackTools: readonly GroupedTool[] = [
  {
    name: 'memory_confirm',
    title: 'Confirm a fact or rule',
    operation: /* GraphQL */ `
      mutation MemoryConfirm($input: MemoryWriteInput!) {
        confirmMemory(input: $input) {
          ... on ConfirmMemoryPayload { ${inlined}: memory { ${memoryFields} } ${outcomeFields} }
          ${problemFields}
        }
      }
    `,
    annotations: { ...writes, idempotentHint: true },
    describe: (written: WrittenResult) =>
      describeWrite(written, `Confirmed ${nameOf(written)}: ${stateInertly(written)}`),
  },
  {
    name: 'memory_mark_helpful',
    title: 'Say that a rule helped',
    operation: markOperation('MemoryMarkHelpful', 'markRuleHelpful'),
    annotations: writes,
    describe: (rule: RuleResult) => describeWrite(rule, `Noted: ${nameOf(rule)} helped; it is ${rule.maturity}.`),
  },
  {
    name: 'memory_mark_harmful',
    title: 'Say that a rule did harm',
    operation: markOperation('MemoryMarkHarmful', 'markRuleHarmful'),
    annotations: writes,
    describe: (rule: RuleResult) => describeWrite(rule, `Noted: ${nameOf(rule)} did harm; it is ${rule.maturity}.`),
  },
];

function markOperation(name: string, field: string): string {
  return /* GraphQL */ `
    mutation ${name}($input: MarkRuleInput!) {
      ${field}(input: $input) {
        ... on MarkRulePayload { ${inlined}: rule { ${ruleFields} } ${outcomeFields} ${omissionFields} }
        ${problemFields}
      }
    }
  `;
}
