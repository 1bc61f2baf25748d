import type { Tool } from '../tool.ts';

export const storeEpisodeTool: Tool = {
  name: 'memory_store_episode',
  title: 'Store an episode',
  operation: /* GraphQL */ `
    mutation MemoryStoreEpisode($input: StoreEpisodeInput!) {
      storeEpisode(input: $input) {
        id: uuid
        butler
        sessionId
        content
        importance
        consolidationStatus
        consolidated
        createdAt
        expiresAt
        metadata
      }
    }
  `,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, expires_at }: { id: string; expires_at: string }) =>
    `Stored episode ${id}; it expires ${expires_at}.`,
};
