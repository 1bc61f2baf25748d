import { episodeFields, type MemoryResult } from '../memory-fields.ts';
import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';

export const storeEpisodeTool: Tool = {
  name: 'memory_store_episode',
  title: 'Store an episode',
  group: 'store',
  operation: /* GraphQL */ `
    mutation MemoryStoreEpisode($input: StoreEpisodeInput!) { storeEpisode(input: $input) { __typename ... on StoreEpisodePayload { ${inlined}: episode { ${episodeFields} } redacted cut { field fromLength toLength } } ... on Problem { code message hint } } }
  `,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ id, expires_at }: MemoryResult & { expires_at: string }) =>
    `Stored episode ${id}; it expires ${expires_at}.`,
};
