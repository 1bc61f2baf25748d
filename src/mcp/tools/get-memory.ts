import { inertText } from '../../shared/inert-text.ts';
import type { Tool } from '../tool.ts';
import { memoryFields, type MemoryResult } from '../memory-fields.ts';

export const getMemoryTool: Tool = {
  name: 'memory_get',
  title: 'Get a memory',
  group: 'read',
  operation: /* GraphQL */ `
    query MemoryGet($type: MemoryType!, $id: String!, $sessionId: String) {
      memory(type: $type, id: $id, sessionId: $sessionId, countReference: true) { ${memoryFields} }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ type, id, content }: MemoryResult) => `${type} ${id}: ${inertText(content)}`,
};
