import { inertText } from '../../shared/inert-text.ts';
import { memoryFields, type MemoryResult } from '../memory-fields.ts';
import { inlined } from '../selection.ts';
import type { Tool } from '../tool.ts';

export const storeNoteTool: Tool = {
  name: 'memory_store',
  title: 'Remember something',
  group: 'store',
  operation: /* GraphQL */ `
    mutation MemoryStore($input: StoreNoteInput!) {
      storeNote(input: $input) { __typename ... on StoreNotePayload { ${inlined}: memory { ${memoryFields} } redacted cut { field fromLength toLength } } ... on Problem { code message hint } }
    }
  `,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  describe: ({ type, id, content }: MemoryResult) => `Stored ${type} ${id}: ${inertText(content)}`,
};
