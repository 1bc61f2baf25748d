import type { Tool } from '../tool.ts';

export const getEpisodeTool: Tool = {
  name: 'memory_get_episode',
  title: 'Get an episode',
  operation: /* GraphQL */ `
    query MemoryGetEpisode($id: String!) {
      episode(id: $id) {
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
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ butler, created_at, content }: { butler: string; created_at: string; content: string }) =>
    `[${created_at}, ${butler}] ${content}`,
};
