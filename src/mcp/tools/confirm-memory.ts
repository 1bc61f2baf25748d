import type { Tool } from '../tool.ts';
import { memoryFields, type MemoryResult } from '../memory-fields.ts';

export const confirmMemoryTool: Tool = {
  name: 'memory_confirm',
  title: 'Confirm a fact or rule',
  group: 'feedback',
  operation: /* GraphQL */ `mutation MemoryConfirm($input: MemoryWriteInput!) { confirmMemory(input: $input) { __typename ... on ConfirmMemoryPayload { memory { ${memoryFields} } } ... on Problem { code message hint } } }`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  describe: ({ type, id }: MemoryResult) => `Confirmed ${type} ${id}; its decay starts anew.`,
};
