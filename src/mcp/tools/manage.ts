import { inertText } from '../../shared/untrusted-text.ts';
import { inlined } from '../bridge/operation.ts';
import {
  briefMemoryFields,
  describeWrite,
  memoryFields,
  nameOf,
  outcomeFields,
  problemFields,
  stateInertly,
  type MemoryResult,
  type WrittenResult,
} from './fields.ts';
import { reads, writes, type GroupedTool } from './tool.ts';

const eventFields = /* GraphQL */ `
  id: uuid
  eventType
  entityType
  entityId
  occurredAt
  actor
  requestId
  subrequestId
  segmentId
`;

interface EventResult {
  id: string;
  event_type: string;
  entity_type: string;
  entity_id: string;
  occurred_at: string;
  actor: string;
}

interface HistoryResult {
  type: string;
  id: string;
  versions: { event: EventResult; memory: MemoryResult | null; changes: string[] }[];
}

interface Count {
  name: string;
  count: number;
}

interface StatsResult {
  episodes: { total: number; backlog: number; dead_letters: number; nothing_found: number };
  facts: { total: number; by_validity: Count[] };
  rules: { total: number; by_maturity: Count[] };
  by_generation: Count[];
  due_evictions: { butler: string; generation: string; count: number }[] | null;
  unknown: string[];
}

interface ForgottenResult extends Partial<WrittenResult> {
  event_id: string | null;
  memories: (MemoryResult & { subject?: string; predicate?: string; validity?: string })[];
  hidden: { episode_id: string; text: string }[];
}

interface ActivityResult {
  events: EventResult[];
  resume_from: string;
  has_more: boolean;
}

interface HealthResult {
  status: string;
  checks: { name: string; status: string; detail: string | null }[];
}

const counts = '{ name count }';

/** Also the resource memory://stats. */
export const statsTool: GroupedTool = {
  name: 'memory_stats',
  title: 'Statistics of the memory',
  operation: /* GraphQL */ `
    query MemoryStats($scope: String) {
      stats(scope: $scope) {
        scope
        at
        episodes { total byStatus ${counts} backlog oldestPendingAt deadLetters nothingFound }
        facts { total byValidity ${counts} byPermanence ${counts} confidence }
        rules { total disabled byValidity ${counts} byMaturity ${counts} confidence effectiveness }
        byGeneration ${counts}
        dueEvictions { butler generation count }
        jobs { name status state startedAt completedAt nextAt }
        unknown
      }
    }
  `,
  annotations: reads,
  describe: ({ episodes, facts, rules, by_generation: generations, due_evictions: due, unknown }: StatsResult) =>
    [
      `episodes: ${episodes.total} (not consolidated ${episodes.backlog}, dead letters ${episodes.dead_letters}, ` +
        `nothing found ${episodes.nothing_found})`,
      `live facts: ${facts.total} (${listCounts(facts.by_validity)})`,
      `live rules: ${rules.total} (${listCounts(rules.by_maturity)})`,
      `generations: ${listCounts(generations)}`,
      ...(due ?? []).map(
        ({ butler, generation, count }) =>
          `${count} unused memories of ${butler} (${generation}) will be evicted within seven days`,
      ),
      ...(unknown.length === 0 ? [] : [`not known: ${unknown.join(', ')}`]),
    ].join('\n'),
};

export const manageTools: readonly GroupedTool[] = [
  {
    name: 'memory_forget',
    title: 'Forget a memory',
    operation: /* GraphQL */ `
      mutation MemoryForget($input: ForgetMemoryInput!) {
        forgetMemory(input: $input) {
          ... on ForgetMemoryPayload {
            ${inlined}: memory { ${memoryFields} } ${outcomeFields}
            memories {
              __typename type id: uuid handle content
              ... on Fact { subject predicate validity }
              ... on Rule { validity }
            }
            hidden { episodeId episodeHandle text }
          }
          ${problemFields}
        }
      }
    `,
    annotations: { ...writes, destructiveHint: true },
    describe: (written: ForgottenResult) =>
      (written.id === undefined
        ? describeTopic(written)
        : [describeWrite(written as WrittenResult), ...describeHidden(written)]
      ).join('\n'),
  },
  {
    name: 'memory_restore',
    title: 'Restore a forgotten memory',
    operation: /* GraphQL */ `
      mutation MemoryRestore($input: MemoryWriteInput!) {
        restoreMemory(input: $input) {
          ... on RestoreMemoryPayload { ${inlined}: memory { ${memoryFields} } ${outcomeFields} }
          ${problemFields}
        }
      }
    `,
    annotations: writes,
    describe: (written: WrittenResult) => describeWrite(written),
  },
  {
    name: 'memory_undo',
    title: 'Undo a change',
    operation: /* GraphQL */ `
      mutation MemoryUndo($input: UndoInput!) {
        undo(input: $input) { ... on UndoPayload { event { ${eventFields} } } ${problemFields} }
      }
    `,
    annotations: { ...writes, destructiveHint: true },
    describe: ({ id, entity_type: type, entity_id: entityId }: EventResult) =>
      `Undone, on ${type} ${entityId}; memory_undo of event ${id} does it again.`,
  },
  {
    name: 'memory_history',
    title: 'History of a memory',
    operation: /* GraphQL */ `
      query MemoryHistory($type: MemoryType!, $id: String!) {
        history(type: $type, id: $id) {
          type
          id: uuid
          versions { event { id: uuid eventType occurredAt actor requestId } changes memory { ${briefMemoryFields} } }
        }
      }
    `,
    annotations: reads,
    describe: ({ type, id, versions }: HistoryResult) =>
      [`${type} ${id}`, ...versions.map(({ event, memory }) => describeVersion(event, memory))].join('\n'),
  },
  statsTool,
  {
    name: 'memory_activity_stream',
    title: 'Recent changes',
    operation: /* GraphQL */ `
      query MemoryActivityStream($since: String, $scope: String, $limit: Int) {
        activityStream(since: $since, scope: $scope, limit: $limit) { events { ${eventFields} } resumeFrom hasMore }
      }
    `,
    annotations: reads,
    describe: ({ events, resume_from: resumeFrom }: ActivityResult) =>
      [
        ...events.map(
          ({ occurred_at: at, event_type: type, entity_id: id, actor }) => `${at} ${type} ${id} by ${actor}`,
        ),
        `Go on with since = ${resumeFrom}.`,
      ].join('\n'),
  },
  {
    name: 'memory_health',
    title: 'Health of the memory server',
    operation: 'query MemoryHealth { health { status version engine checks { name status detail } } }',
    annotations: reads,
    describe: ({ status, checks }: HealthResult) =>
      [status, ...checks.map((check) => `${check.name}: ${check.detail ?? check.status}`)].join('\n'),
  },
];

/** Says what was hidden, and offers to take the episodes, too. */
function describeHidden({ hidden }: ForgottenResult): string[] {
  if (hidden.length === 0) return [];
  return [
    ...hidden.map(({ episode_id: id, text }) => `Hid in episode ${id}: ${inertText(text)}`),
    'The rest of these episodes stays. memory_forget with sources = true forgets the source episodes, too.',
  ];
}

/** Lists what a topic took, or would take. */
function describeTopic({ memories, hidden, event_id: eventId }: ForgottenResult): string[] {
  if (memories.length === 0 && hidden.length === 0) {
    return ['Nothing is known about this that you may forget. Nothing was changed.'];
  }
  const lines = [
    ...memories.map((memory) => `- ${describeTaken(memory)}`),
    ...hidden.map(({ episode_id: id, text }) => `- in ${nameOf({ type: 'episode', id })}: ${inertText(text)}`),
  ];
  if (eventId !== null) return ['Forgot:', ...lines, `Undo all of it with memory_undo of event ${eventId}.`];
  return [
    'This would be forgotten. Nothing was changed yet:',
    ...lines,
    'Call memory_forget again with confirm = true to forget all of it, or with the id of one to forget only that.',
  ];
}

function describeTaken({ subject, predicate, validity, ...memory }: ForgottenResult['memories'][number]): string {
  const about = subject === undefined ? '' : ` (${inertText(`${subject} ${predicate ?? ''}`)})`;
  const state = validity === 'superseded' ? ', an earlier version' : '';
  return `${nameOf(memory)}${state}${about}: ${inertText(memory.content)}`;
}

function describeVersion(event: EventResult, memory: MemoryResult | null): string {
  const text = memory === null ? 'gone' : stateInertly(memory);
  return `${event.occurred_at} ${event.event_type} by ${event.actor} (event ${event.id}): ${text}`;
}

function listCounts(counted: Count[]): string {
  return counted.map(({ name, count }) => `${name} ${count}`).join(', ') || 'none';
}
