import type { Tool } from '../tool.ts';

interface ExplainResult {
  account: string;
}

export const explainTool: Tool = {
  name: 'memory_explain',
  title: 'Explain an answer',
  group: 'read',
  operation: /* GraphQL */ `
    query MemoryExplain($input: ExplainInput!) {
      explain(input: $input) {
        account
        receipt {
          id: uuid
          kind
          butler
          query
          intent
          tokenBudget
          tokensUsed
          asOf
          createdAt
          chosen {
            type
            id: uuid
            version
            score
            section
            tokens
          }
          dropped {
            type
            id: uuid
            stage
            reason
          }
        }
        memory {
          type
          id: uuid
          came
          stage
          reason
          place
          section
          tokens
          score
          relevance
        }
      }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ account }: ExplainResult) => account,
};
