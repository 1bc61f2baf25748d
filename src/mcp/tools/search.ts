import { describeMatches, matchFields, type MatchesResult } from '../match-fields.ts';
import type { Tool } from '../tool.ts';

export const searchTool: Tool = {
  name: 'memory_search',
  title: 'Search the memory',
  group: 'read',
  operation: /* GraphQL */ `
    query MemorySearch($input: SearchInput!) { search(input: $input, countReference: true) { ${matchFields} } }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: (result: MatchesResult) => describeMatches(result),
};
