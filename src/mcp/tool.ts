import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { ToolGroup } from '../config/tool-groups.ts';

/**
 * A tool is one GraphQL operation under another name. Its arguments are the operation's variables (or the fields of
 * its one `$input`), and its description and theirs are those of the schema, so that the two doors cannot disagree.
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
  /** The result for a reader; `structuredContent` carries the same for a program. */
  describe: (result: never) => string;
}
