import type { GraphQLField, GraphQLSchema } from 'graphql';
import { renderTable } from './markdown-table.ts';
import { bindTools } from './mcp/server.ts';
import { roles, type Role } from './memory/context.ts';

export const operationKinds = ['query', 'mutation', 'subscription'] as const;
export type OperationKind = (typeof operationKinds)[number];

/** Who may call one field of the API, and the tools that do. */
export interface RoleReferenceRow {
  readonly kind: OperationKind;
  readonly name: string;
  readonly tools: readonly string[];
  /** What the rules of the schema ask for at least. */
  readonly leastRole: Role;
}

type Field = GraphQLField<unknown, unknown>;

/** Every way in, from the schema that is served. */
export function roleReference(schema: GraphQLSchema): RoleReferenceRow[] {
  const tools = [...bindTools(schema).values()];
  const toolsOf = ({ name }: Field): string[] =>
    tools.filter(({ operation }) => operation.field.name === name).map(({ tool }) => tool.name);
  return operationKinds.flatMap((kind) =>
    fieldsOf(schema, kind).map((field) => ({
      kind,
      name: field.name,
      // No tool follows a feed.
      tools: kind === 'subscription' ? [] : toolsOf(field),
      leastRole: leastRoleOf(field),
    })),
  );
}

function fieldsOf(schema: GraphQLSchema, kind: OperationKind): Field[] {
  const root = schema.getRootType(kind as never);
  const byName = (one: Field, other: Field): number => (one.name < other.name ? -1 : 1);
  return Object.values(root?.getFields() ?? {}).toSorted(byName);
}

function leastRoleOf({ extensions }: Field): Role {
  const options = extensions['pothosOptions'] as { authScopes?: { role?: Role } } | undefined;
  return options?.authScopes?.role ?? 'butler';
}

export function isOpenTo({ leastRole }: RoleReferenceRow, role: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(leastRole);
}

/** The table of docs/security.md. */
export function renderRoleReference(schema: GraphQLSchema): string {
  const code = (name: string): string => `\`${name}\``;
  const rows = roleReference(schema).map((row) => [
    `${row.kind} ${code(row.name)}`,
    row.tools.map(code).join(', '),
    ...roles.map((role) => (isOpenTo(row, role) ? 'yes' : 'no')),
    row.kind === 'mutation' ? 'no' : 'yes',
  ]);
  return renderTable([['Call', 'Tools', ...roles, 'visitor to read'], ...rows]);
}
