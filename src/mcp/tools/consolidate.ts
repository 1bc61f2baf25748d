import { inlined } from '../bridge/operation.ts';
import { omissionFields, problemFields } from './fields.ts';
import { writes, type GroupedTool } from './tool.ts';

interface ClaimResult {
  run: { id: string; butler: string; episode_count: number } | null;
  lease_expires_at: string | null;
  prompt: { system: string; user: string } | null;
}

interface RunResult {
  status: string;
  facts_created: number;
  facts_updated: number;
  rules_created: number;
  confirmations: number;
  links_created: number;
  refused_items: { kind: string; place: number; reason: string }[];
}

interface RequeueResult {
  episodes: { id: string }[];
  refused: { id: string; reason: string }[];
}

export const consolidateTools: readonly GroupedTool[] = [
  {
    name: 'memory_consolidation_claim',
    title: 'Claim episodes to consolidate',
    // Leaves the episodes out: the prompt has them, between delimiters.
    operation: /* GraphQL */ `
      mutation MemoryConsolidationClaim($input: ClaimConsolidationInput!) {
        claimConsolidation(input: $input) {
          ... on ClaimConsolidationPayload {
            claim { run { id: uuid butler episodeCount } leaseExpiresAt prompt { system user tokens } }
          }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ run, lease_expires_at: until, prompt }: ClaimResult) =>
      run === null || prompt === null
        ? 'Nothing is due.'
        : [
            `Run ${run.id}: ${run.episode_count} episodes of ${run.butler}, yours until ${until}.`,
            'Follow the instructions, and send the answer as `output` of memory_consolidation_submit.',
            prompt.system,
            prompt.user,
          ].join('\n\n'),
  },
  {
    name: 'memory_consolidation_submit',
    title: 'Submit what was consolidated',
    operation: /* GraphQL */ `
      mutation MemoryConsolidationSubmit($input: SubmitConsolidationInput!) {
        submitConsolidation(input: $input) {
          ... on SubmitConsolidationPayload {
            ${inlined}: run {
              id: uuid butler status episodeCount factsCreated factsUpdated rulesCreated confirmations linksCreated
              refusedItems { kind place reason }
            }
            ${omissionFields}
          }
          ${problemFields}
        }
      }
    `,
    annotations: { ...writes, idempotentHint: true },
    describe: (run: RunResult) =>
      [
        `Stored ${run.facts_created} facts and ${run.rules_created} rules, updated ${run.facts_updated} facts, ` +
          `confirmed ${run.confirmations} memories, made ${run.links_created} links.`,
        ...run.refused_items.map(({ kind, place, reason }) => `Refused ${kind}[${place}]: ${reason}`),
      ].join('\n'),
  },
  {
    name: 'memory_consolidation_requeue',
    title: 'Consolidate episodes anew',
    operation: /* GraphQL */ `
      mutation MemoryConsolidationRequeue($input: RequeueEpisodesInput!) {
        requeueEpisodes(input: $input) {
          ... on RequeueEpisodesPayload {
            requeue { episodes { id: uuid butler consolidationStatus } refused { id: uuid reason } }
          }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ episodes, refused }: RequeueResult) =>
      [`Requeued ${episodes.length} episodes.`, ...refused.map(({ id, reason }) => `Refused ${id}: ${reason}`)].join(
        '\n',
      ),
  },
];
