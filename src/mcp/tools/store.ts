import { inlined } from '../bridge/operation.ts';
import {
  describeWrite,
  episodeFields,
  factFields,
  memoryFields,
  nameOf,
  omissionFields,
  outcomeFields,
  problemFields,
  ruleFields,
  standingFields,
  stateInertly,
  supersededFactFields,
  supersededRuleFields,
  type WrittenResult,
} from './fields.ts';
import { writes, type GroupedTool } from './tool.ts';

type RuleWritten = WrittenResult & { similar: { id: string; content: string }[] };

function sayNear({ similar }: RuleWritten): string[] {
  if (similar.length === 0) return [];
  const rules = similar.map((rule) => `- ${nameOf({ type: 'rule', id: rule.id })}: ${stateInertly(rule)}`);
  return ['Rules that say nearly the same (to replace one, store it with supersedes, or forget it):', ...rules];
}

type FactWritten = WrittenResult & { similar: { id: string; subject: string; predicate: string; content: string }[] };

function sayAlike({ similar, validity }: FactWritten): string[] {
  // What is history already is no candidate for replacing what is current.
  if (similar.length === 0 || validity === 'superseded' || validity === 'expired') return [];
  const facts = similar.map((fact) => `- ${nameOf({ type: 'fact', id: fact.id })}: ${stateInertly(fact)}`);
  return ['Facts that may say the same in other words (to replace one, store it with supersedes):', ...facts];
}

export const storeTools: readonly GroupedTool[] = [
  {
    name: 'memory_store_episode',
    title: 'Store an episode',
    operation: /* GraphQL */ `
      mutation MemoryStoreEpisode($input: StoreEpisodeInput!) {
        storeEpisode(input: $input) {
          ... on StoreEpisodePayload { ${inlined}: episode { ${episodeFields} } ${outcomeFields} ${omissionFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: (written: WrittenResult) => describeWrite(written),
  },
  {
    name: 'memory_store_fact',
    title: 'Store a fact',
    operation: /* GraphQL */ `
      mutation MemoryStoreFact($input: StoreFactInput!) {
        storeFact(input: $input) {
          ... on StoreFactPayload {
            ${inlined}: fact { ${factFields} ${standingFields} } confirmed ${outcomeFields} ${supersededFactFields}
            similar { id: uuid subject predicate content } ${omissionFields}
          }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: (written: FactWritten) => [describeWrite(written), ...sayAlike(written)].join('\n'),
  },
  {
    name: 'memory_store_rule',
    title: 'Store a rule',
    operation: /* GraphQL */ `
      mutation MemoryStoreRule($input: StoreRuleInput!) {
        storeRule(input: $input) {
          ... on StoreRulePayload {
            ${inlined}: rule { ${ruleFields} } confirmed ${outcomeFields} ${supersededRuleFields}
            similar { id: uuid content } ${omissionFields}
          }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: (written: RuleWritten) => [describeWrite(written), ...sayNear(written)].join('\n'),
  },
  {
    name: 'memory_store',
    title: 'Remember something',
    operation: /* GraphQL */ `
      mutation MemoryStore($input: StoreNoteInput!) {
        storeNote(input: $input) {
          ... on StoreNotePayload {
            ${inlined}: memory { ${memoryFields} } confirmed ${outcomeFields} ${supersededFactFields}
            similar { id: uuid subject predicate content } ${omissionFields}
          }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: (written: FactWritten) => [describeWrite(written), ...sayAlike(written)].join('\n'),
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
