import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { ToolGroup } from '../../config/tool-groups.ts';

/**
 * A tool is one GraphQL operation under another name. Its arguments are the operation's variables (or the fields of
 * its one `$input`), and all descriptions are those of the schema.
 */
export interface Tool {
  name: `memory_${string}`;
  title: string;
  group: ToolGroup;
  /**
   * One operation with one top-level field, whose result is the tool's result. Where the field may answer with a
   * Problem, the operation asks for its code, message and hint, and the one object of the payload is the result.
   */
  operation: string;
  annotations: ToolAnnotations;
  /** Writes the result as text for a model; `structuredContent` carries the same for a program. */
  describe: (result: never) => string;
}

/** A tool as its file lists it; tools.ts adds the group, which is the name of the file. */
export type GroupedTool = Omit<Tool, 'group'>;

export const reads: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
export const writes: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
