import type { Tool } from '../tool.ts';
import { memoryFields, type MemoryResult } from '../memory-fields.ts';

export const restoreMemoryTool: Tool = {
  name: 'memory_restore',
  title: 'Restore a forgotten memory',
  group: 'manage',
  operation: /* GraphQL */ `mutation MemoryRestore($input: MemoryWriteInput!) { restoreMemory(input: $input) { __typename ... on RestoreMemoryPayload { memory { ${memoryFields} } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ type, id }: MemoryResult) => `Restored ${type} ${id}.`,
};
