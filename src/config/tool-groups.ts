import { invalidInput } from '../shared/errors.ts';

/** Parts of the MCP tools that a connection can be limited to: an agent that is shown fewer chooses better. */
export const toolGroups = ['store', 'read', 'context', 'feedback', 'manage', 'consolidate'] as const;

export type ToolGroup = (typeof toolGroups)[number];

/** The groups that a connection asks for by their names, among those that are offered: all of them if it names none. */
export function chooseToolGroups(names: string | undefined, offered: readonly ToolGroup[]): readonly ToolGroup[] {
  if (names === undefined) return offered;
  const chosen = names.split(',').map((name) => name.trim());
  const unknown = chosen.find((name) => !offered.includes(name as ToolGroup));
  if (unknown === undefined) return chosen as ToolGroup[];
  throw invalidInput('groups', `one or several of ${offered.join(', ')}, with commas between them`, unknown);
}
