import type { GraphQLSchema } from 'graphql';
import { renderTable } from './markdown-table.ts';
import { bindTools } from '../../src/mcp/server.ts';
import { roles, type Role } from '../../src/memory/context.ts';
import { requireAction, actions, permissions, type Action } from '../../src/memory/permissions.ts';

/** A row of the permission table, and the MCP tools that do the same. */
export interface RoleReferenceRow {
  readonly action: Action;
  readonly kind: ActionKind;
  readonly name: string;
  readonly tools: readonly string[];
}

export const operationKinds = ['query', 'mutation', 'subscription'] as const;
export type OperationKind = (typeof operationKinds)[number];
type ActionKind = OperationKind | 'field' | 'route';

export function roleReference(schema: GraphQLSchema): RoleReferenceRow[] {
  const tools = [...bindTools(schema).values()].map(({ tool, operation: { kind, field } }) => ({
    name: tool.name,
    action: requireAction(kind, field.name),
  }));
  return actions.map((action) => {
    const [kind, name] = action.split(' ') as [ActionKind, string];
    return { action, kind, name, tools: tools.filter((tool) => tool.action === action).map((tool) => tool.name) };
  });
}

/** The table of docs/security.md. */
export function renderRoleReference(schema: GraphQLSchema): string {
  const code = (name: string): string => `\`${name}\``;
  const rows = roleReference(schema).map(({ action, kind, name, tools }) => [
    `${kind} ${code(name)}`,
    tools.map(code).join(', '),
    ...roles.map((role) => describePermission(action, role)),
    kind === 'mutation' ? 'no' : 'yes',
  ]);
  return renderTable([['Call', 'Tools', ...roles, 'visitor to read'], ...rows]);
}

function describePermission(action: Action, role: Role): string {
  const row = permissions[action];
  const words = { allowed: 'yes', own: `only ${row.ownMeans}`, refused: 'no' };
  return words[row[role]];
}
