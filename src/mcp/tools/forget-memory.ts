import type { Tool } from '../tool.ts';
import { memoryFields, type MemoryResult } from '../memory-fields.ts';

export const forgetMemoryTool: Tool = {
  name: 'memory_forget',
  title: 'Forget a memory',
  group: 'manage',
  operation: /* GraphQL */ `mutation MemoryForget($input: MemoryWriteInput!) { forgetMemory(input: $input) { __typename ... on ForgetMemoryPayload { memory { ${memoryFields} } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  describe: ({ type, id }: MemoryResult) => `Forgot ${type} ${id}; memory_restore brings it back.`,
};
