import { describeMatches, matchFields, type MatchesResult } from '../match-fields.ts';
import type { Tool } from '../tool.ts';

export const recallTool: Tool = {
  name: 'memory_recall',
  title: 'Recall what matters about a topic',
  group: 'read',
  operation: /* GraphQL */ `
    query MemoryRecall($input: RecallInput!) { recall(input: $input, countReference: true) { ${matchFields} } }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: (result: MatchesResult) => describeMatches(result),
};
