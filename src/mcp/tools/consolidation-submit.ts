import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';

interface RunResult {
  status: string;
  facts_created: number;
  facts_updated: number;
  rules_created: number;
  confirmations: number;
  links_created: number;
  refused_items: { kind: string; place: number; reason: string }[];
}

export const consolidationSubmitTool: Tool = {
  name: 'memory_consolidation_submit',
  title: 'Submit what was consolidated',
  group: 'consolidate',
  operation: /* GraphQL */ `
    mutation MemoryConsolidationSubmit($input: SubmitConsolidationInput!) {
      submitConsolidation(input: $input) {
        __typename
        ... on SubmitConsolidationPayload {
          ${inlined}: run {
            id: uuid
            butler
            status
            episodeCount
            factsCreated
            factsUpdated
            rulesCreated
            confirmations
            linksCreated
            refusedItems {
              kind
              place
              reason
            }
          }
          redacted
          cut {
            field
            fromLength
            toLength
          }
        }
        ... on Problem {
          code
          message
          hint
        }
      }
    }
  `,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  describe: (run: RunResult) =>
    [
      `Stored ${run.facts_created} facts and ${run.rules_created} rules, updated ${run.facts_updated} facts, ` +
        `confirmed ${run.confirmations} memories, made ${run.links_created} links.`,
      ...run.refused_items.map(({ kind, place, reason }) => `Refused ${kind}[${place}]: ${reason}`),
    ].join('\n'),
};
