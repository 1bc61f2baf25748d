import type { Tool } from '../tool.ts';

interface RequeueResult {
  episodes: { id: string }[];
  refused: { id: string; reason: string }[];
}

export const consolidationRequeueTool: Tool = {
  name: 'memory_consolidation_requeue',
  title: 'Consolidate episodes anew',
  group: 'consolidate',
  operation: /* GraphQL */ `
    mutation MemoryConsolidationRequeue($input: RequeueEpisodesInput!) {
      requeueEpisodes(input: $input) {
        __typename
        ... on RequeueEpisodesPayload {
          requeue {
            episodes {
              id: uuid
              butler
              consolidationStatus
            }
            refused {
              id: uuid
              reason
            }
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
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ episodes, refused }: RequeueResult) =>
    [`Requeued ${episodes.length} episodes.`, ...refused.map(({ id, reason }) => `Refused ${id}: ${reason}`)].join(
      '\n',
    ),
};
