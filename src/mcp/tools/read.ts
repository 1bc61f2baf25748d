import { inlined } from '../bridge/operation.ts';
import { briefMemoryFields, memoryFields, nameOf, stateInertly, type MemoryResult } from './fields.ts';
import { reads, type GroupedTool } from './tool.ts';

const matchFields = /* GraphQL */ `
  mode
  intent
  candidates
  receiptId
  results { score relevance isWarning isFresh ${inlined}: memory { ${briefMemoryFields} } }
`;

interface MatchResult extends MemoryResult {
  score: number;
  is_warning: boolean;
  is_fresh: boolean;
  asked_by_user_at?: string | null;
}

interface MatchesResult {
  results: MatchResult[];
}

export const readTools: readonly GroupedTool[] = [
  {
    name: 'memory_search',
    title: 'Search the memory',
    operation: /* GraphQL */ `
      query MemorySearch($input: SearchInput!) { search(input: $input, countReference: true) { ${matchFields} } }
    `,
    annotations: reads,
    describe: (answer: MatchesResult) => describeMatches(answer, 'Nothing was found.'),
  },
  {
    name: 'memory_recall',
    title: 'Recall what matters about a topic',
    operation: /* GraphQL */ `
      query MemoryRecall($input: RecallInput!) { recall(input: $input, countReference: true) { ${matchFields} } }
    `,
    annotations: reads,
    describe: (answer: MatchesResult) => describeMatches(answer, 'Nothing relevant is known.'),
  },
  {
    name: 'memory_get',
    title: 'Get a memory',
    operation: /* GraphQL */ `
      query MemoryGet($type: MemoryType, $id: String!, $sessionId: String) {
        memory(type: $type, id: $id, sessionId: $sessionId, countReference: true) { ${memoryFields} }
      }
    `,
    annotations: reads,
    describe: (memory: MemoryResult) => `${nameOf(memory)}: ${stateInertly(memory)}`,
  },
  {
    name: 'memory_explain',
    title: 'Explain an answer',
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
    annotations: reads,
    describe: ({ account }: { account: string }) => account,
  },
];

function describeMatches({ results }: MatchesResult, nothing: string): string {
  if (results.length === 0) return nothing;
  return results
    .map((match) => {
      const { score, is_warning: isWarning } = match;
      const asked = match.asked_by_user_at && !isWarning ? ', asked by the user' : '';
      const fresh = match.is_fresh ? ', not consolidated' : '';
      return `${isWarning ? 'WARNING ' : ''}${nameOf(match)} (${score.toFixed(3)}${asked}${fresh}): ${stateInertly(match)}`;
    })
    .join('\n');
}
