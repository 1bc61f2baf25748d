import { eventFields, type EventResult } from '../memory-fields.ts';
import type { Tool } from '../tool.ts';

interface ActivityResult {
  events: EventResult[];
  resume_from: string;
  has_more: boolean;
}

export const activityStreamTool: Tool = {
  name: 'memory_activity_stream',
  title: 'What was done lately',
  group: 'manage',
  operation: /* GraphQL */ `
    query MemoryActivityStream($since: String, $scope: String, $limit: Int) {
      activityStream(since: $since, scope: $scope, limit: $limit) {
        events { ${eventFields} }
        resumeFrom
        hasMore
      }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ events, resume_from: resumeFrom }: ActivityResult) =>
    [
      ...events.map(({ occurred_at: at, event_type: type, entity_id: id, actor }) => `${at} ${type} ${id} by ${actor}`),
      `Go on with since = ${resumeFrom}.`,
    ].join('\n'),
};
