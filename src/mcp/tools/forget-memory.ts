import type { Tool } from '../tool.ts';
import { memoryFields, type MemoryResult } from '../memory-fields.ts';

export const forgetMemoryTool: Tool = {
  name: 'memory_forget',
  title: 'Forget a memory',
  operation: /* GraphQL */ `mutation MemoryForget($input: MemoryWriteInput!) { forgetMemory(input: $input) { ${memoryFields} } }`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  describe: ({ type, id }: MemoryResult) => `Forgot ${type} ${id}; memory_restore brings it back.`,
};
