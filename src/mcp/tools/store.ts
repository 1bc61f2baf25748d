import { inertText } from '../../shared/untrusted-text.ts';
import { inlined } from '../bridge/operation.ts';
import {
  episodeFields,
  factFields,
  memoryFields,
  omissionFields,
  problemFields,
  ruleFields,
  type MemoryResult,
} from './fields.ts';
import { writes, type GroupedTool } from './tool.ts';

export const storeTools: readonly GroupedTool[] = [
  {
    name: 'memory_store_episode',
    title: 'Store an episode',
    operation: /* GraphQL */ `
      mutation MemoryStoreEpisode($input: StoreEpisodeInput!) {
        storeEpisode(input: $input) {
          ... on StoreEpisodePayload { ${inlined}: episode { ${episodeFields} } ${omissionFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ id, expires_at }: MemoryResult & { expires_at: string }) =>
      `Stored episode ${id}; it expires ${expires_at}.`,
  },
  {
    name: 'memory_store_fact',
    title: 'Store a fact',
    operation: /* GraphQL */ `
      mutation MemoryStoreFact($input: StoreFactInput!) {
        storeFact(input: $input) {
          ... on StoreFactPayload { ${inlined}: fact { ${factFields} } confirmed ${omissionFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ id, content, confirmed }: MemoryResult & { confirmed: boolean }) =>
      `${confirmed ? `Confirmed fact ${id}, which was known already` : `Stored fact ${id}`}: ${inertText(content)}`,
  },
  {
    name: 'memory_store_rule',
    title: 'Store a rule',
    operation: /* GraphQL */ `
      mutation MemoryStoreRule($input: StoreRuleInput!) {
        storeRule(input: $input) {
          ... on StoreRulePayload { ${inlined}: rule { ${ruleFields} } confirmed ${omissionFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ id, content, confirmed }: MemoryResult & { confirmed: boolean }) =>
      confirmed
        ? `Confirmed rule ${id}, which was known already: ${inertText(content)}`
        : `Stored rule ${id} as a candidate: ${inertText(content)}`,
  },
  {
    name: 'memory_store',
    title: 'Remember something',
    operation: /* GraphQL */ `
      mutation MemoryStore($input: StoreNoteInput!) {
        storeNote(input: $input) {
          ... on StoreNotePayload { ${inlined}: memory { ${memoryFields} } ${omissionFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ type, id, content }: MemoryResult) => `Stored ${type} ${id}: ${inertText(content)}`,
  },
  {
    name: 'memory_ingest_batch',
    title: 'Store many episodes',
    // Does not repeat the content: a batch may be long, and the caller has it.
    operation: /* GraphQL */ `
      mutation MemoryIngestBatch($input: IngestEpisodesInput!) {
        ingestEpisodes(input: $input) {
          ... on IngestEpisodesPayload { episodes { id: uuid consolidationStatus expiresAt } ${omissionFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: ({ episodes }: { episodes: unknown[] }) => `Stored ${episodes.length} episodes.`,
  },
];
