import { eventFields, type EventResult } from '../memory-fields.ts';
import type { Tool } from '../tool.ts';

export const undoTool: Tool = {
  name: 'memory_undo',
  title: 'Undo a change',
  group: 'manage',
  operation: /* GraphQL */ `
    mutation MemoryUndo($input: UndoInput!) {
      undo(input: $input) { __typename ... on UndoPayload { event { ${eventFields} } } ... on Problem { code message hint } }
    }
  `,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  describe: ({ id, entity_type: type, entity_id: entityId }: EventResult) =>
    `Undone, on ${type} ${entityId}; memory_undo of event ${id} does it again.`,
};
