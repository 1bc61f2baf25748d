import type { Tool } from '../tool.ts';

interface IngestResult {
  episodes: { id: string }[];
}

export const ingestBatchTool: Tool = {
  name: 'memory_ingest_batch',
  title: 'Store many episodes',
  group: 'store',
  // Not what was just sent: a batch may be long, and its sender has it.
  operation: /* GraphQL */ `
    mutation MemoryIngestBatch($input: IngestEpisodesInput!) {
      ingestEpisodes(input: $input) {
        __typename
        ... on IngestEpisodesPayload {
          episodes {
            id: uuid
            consolidationStatus
            expiresAt
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
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ episodes }: IngestResult) => `Stored ${episodes.length} episodes.`,
};
