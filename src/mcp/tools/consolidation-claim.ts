import type { Tool } from '../tool.ts';

interface ClaimResult {
  run: { id: string; butler: string; episode_count: number } | null;
  lease_expires_at: string | null;
  prompt: { system: string; user: string } | null;
}

export const consolidationClaimTool: Tool = {
  name: 'memory_consolidation_claim',
  title: 'Claim episodes to consolidate',
  group: 'consolidate',
  // Not the episodes: the prompt has them, between delimiters.
  operation: /* GraphQL */ `
    mutation MemoryConsolidationClaim($input: ClaimConsolidationInput!) {
      claimConsolidation(input: $input) {
        __typename
        ... on ClaimConsolidationPayload {
          claim {
            run {
              id: uuid
              butler
              episodeCount
            }
            leaseExpiresAt
            prompt {
              system
              user
              tokens
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
  describe: ({ run, lease_expires_at: until, prompt }: ClaimResult) =>
    run === null || prompt === null
      ? 'Nothing is due.'
      : [
          `Run ${run.id}: ${run.episode_count} episodes of ${run.butler}, yours until ${until}.`,
          'Follow the instructions, and send the answer as `output` of memory_consolidation_submit.',
          prompt.system,
          prompt.user,
        ].join('\n\n'),
};
