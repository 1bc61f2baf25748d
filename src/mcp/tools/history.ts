import { inertText } from '../../shared/inert-text.ts';
import { briefMemoryFields, type EventResult, type MemoryResult } from '../memory-fields.ts';
import type { Tool } from '../tool.ts';

interface HistoryResult {
  type: string;
  id: string;
  versions: { event: EventResult; memory: MemoryResult | null; changes: string[] }[];
}

export const historyTool: Tool = {
  name: 'memory_history',
  title: 'History of a memory',
  group: 'manage',
  operation: /* GraphQL */ `
    query MemoryHistory($type: MemoryType!, $id: String!) {
      history(type: $type, id: $id) {
        type
        id: uuid
        versions { event { id: uuid eventType occurredAt actor requestId } changes memory { ${briefMemoryFields} } }
      }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ type, id, versions }: HistoryResult) =>
    [`${type} ${id}`, ...versions.map(({ event, memory }) => describeVersion(event, memory))].join('\n'),
};

function describeVersion(event: EventResult, memory: MemoryResult | null): string {
  const text = memory === null ? 'gone' : inertText(memory.content);
  return `${event.occurred_at} ${event.event_type} by ${event.actor} (event ${event.id}): ${text}`;
}
