import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  type GraphQLField,
  type GraphQLInputType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { authorizeRootFields } from '../../src/graphql/authorize-root-fields.ts';
import { schema } from '../../src/graphql/schema.ts';
import { bindTools } from '../../src/mcp/server.ts';
import { roles, type Role } from '../../src/memory/context.ts';
import { permissions, type Action } from '../../src/memory/permissions.ts';
import { operationKinds, roleReference, type RoleReferenceRow } from '../../scripts/docs/role-reference.ts';
import { knownPaths } from '../../src/http/routes.ts';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

/** The table in docs/security.md is written from the same rows: what it says is what happens. */

let testApp: TestApp;
const tokens = new Map<string, string>();

beforeAll(async () => {
  testApp = await createGuardedApp();
  await installQueue(testApp.core.db);
  const { memory } = testApp.app.createContext({}, { tenantId: 'house', butler: null, role: 'admin' });
  for (const role of roles) tokens.set(role, (await createToken(memory, { name: role, role, butler: 'home' })).token);
  const visitor = { name: 'visitor', role: 'admin', across: ['neighbour'] };
  tokens.set('visitor', (await createToken(memory, visitor)).token);
  const neighbour = testApp.app.createContext({}, { tenantId: 'neighbour', butler: null, role: 'admin' }).memory;
  await storeEpisode(neighbour, { content: 'tea', butler: 'home' });
  await storeFact(neighbour, { subject: 'user', predicate: 'drinks', content: 'tea' });
  await storeRule(neighbour, { content: 'serve tea' });
});
afterAll(() => testApp.close());

/** Any value that the schema takes: what matters is whether it is asked for at all. */
function literalOf(given: GraphQLInputType): string {
  const type = getNullableType(given);
  if (isListType(type)) return `[${literalOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{ ${fields.map((field) => `${field.name}: ${literalOf(field.type)}`).join(', ')} }`;
  }
  const values: Record<string, string> = {
    Int: '1',
    Float: '1',
    Boolean: 'true',
    DateTime: '"2026-03-01T12:00:00Z"',
    JSONObject: '{ a: 1 }',
  };
  return values[type.name] ?? '"01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a"';
}

function documentOf({ kind, name }: RoleReferenceRow): string {
  const field = schema.getRootType(kind as never)?.getFields()[name] as GraphQLField<unknown, unknown>;
  const given = field.args.filter(isRequiredArgument).map((one) => `${one.name}: ${literalOf(one.type)}`);
  const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
  return `${kind} { ${name}${given.length === 0 ? '' : `(${given.join(', ')})`} ${selection} }`;
}

interface Answer {
  errors?: { message: string; extensions: { code: string } }[];
}

async function ask(row: RoleReferenceRow, as: string): Promise<Answer> {
  const response = await testApp.app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: row.kind === 'subscription' ? 'text/event-stream' : 'application/json',
        authorization: `Bearer ${tokens.get(as)}`,
        ...(as === 'visitor' && { 'x-butler-tenant': 'neighbour' }),
      },
      body: JSON.stringify({ query: documentOf(row) }),
    }),
  );
  if (row.kind !== 'subscription') return (await response.json()) as Answer;
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  return {};
}

const reference = roleReference(schema);
const rows = reference
  .filter(({ kind }) => operationKinds.some((operation) => operation === kind))
  .map((row) => [row.action as string, row] as const);
const namesOf = (kind: RoleReferenceRow['kind']): string[] =>
  reference.filter((row) => row.kind === kind).map(({ name }) => name);

const isRefusal = ({ message, extensions }: NonNullable<Answer['errors']>[number]): boolean =>
  extensions.code === 'FORBIDDEN' && /^role must be [\w, ]+ for \w+ \(got \w+\)$/.test(message);

async function get(path: string, role: Role): Promise<Response> {
  return testApp.app.fetch(
    new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${tokens.get(role)}` } }),
  );
}

describe('the table of roles', () => {
  it('has every field that can be called', () => {
    const called = operationKinds.flatMap((kind) =>
      Object.keys(schema.getRootType(kind as never)?.getFields() ?? {}).map((name) => `${kind} ${name}`),
    );
    expect(rows.map(([name]) => name).toSorted()).toEqual(called.toSorted());
  });

  it.each(rows)('says who may call %s', async (_, row) => {
    for (const role of roles) {
      const { errors = [] } = await ask(row, role);
      const isRefused = permissions[row.action][role] === 'refused';
      expect(errors.some(isRefusal), `${role}: ${JSON.stringify(errors)}`).toBe(isRefused);
      expect(errors.map(({ extensions }) => extensions.code)).not.toContain('INTERNAL');
    }
  });

  it('has every tool', () => {
    const bound = [...bindTools(schema).keys()];
    expect(reference.flatMap(({ tools }) => tools).toSorted()).toEqual(bound.toSorted());
  });

  it('has every path that is not open to everybody', () => {
    const isOpen = (path: string): boolean => path === '/' || path === '/healthz';
    expect(namesOf('route').toSorted()).toEqual(knownPaths.filter((path) => !isOpen(path)).toSorted());
  });

  it('has fields that are there', () => {
    for (const name of namesOf('field')) {
      const [type = '', field = ''] = name.split('.');
      expect((schema.getType(type) as GraphQLObjectType).getFields()[field], name).toBeDefined();
    }
  });

  it.each(roles)('says what the role %s is told outside of GraphQL', async (role) => {
    const isOpen = (action: Action): boolean => permissions[action][role] === 'allowed';
    const metrics = await get('/metrics', role);
    expect(metrics.status).toBe(isOpen('route /metrics') ? 200 : 403);
    if (metrics.status === 403) {
      expect(await metrics.json()).toMatchObject({
        error: { code: 'FORBIDDEN', message: `role must be viewer, operator or admin for /metrics (got ${role})` },
      });
    }
    expect('checks' in ((await (await get('/readyz', role)).json()) as object)).toBe(isOpen('route /readyz'));
  });

  it.each(roles)('says which fields are null for the role %s', async (role) => {
    const query = '{ health { checks { name detail } } stats { jobs { entry } } }';
    const response = await testApp.app.fetch(
      new Request('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens.get(role)}` },
        body: JSON.stringify({ query }),
      }),
    );
    const { data } = (await response.json()) as {
      data: { health: { checks: { detail: string | null }[] }; stats: { jobs: object[] | null } };
    };
    const isTold = data.health.checks.some(({ detail }) => detail !== null);
    expect(isTold).toBe(permissions['field HealthCheck.detail'][role] === 'allowed');
    expect(data.stats.jobs !== null).toBe(permissions['field Stats.jobs'][role] === 'allowed');
  });

  it('stops the start for a field that is not in it', () => {
    const fields = { surprise: { type: GraphQLString, resolve: () => 'x' } };
    const other = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
    expect(() => authorizeRootFields(other)).toThrow('must have a row for "query surprise"');
  });

  it.each(rows)(
    'says that a visitor who may read is let to %s or not, and nothing goes wrong inside',
    async (_, row) => {
      const { errors = [] } = await ask(row, 'visitor');
      const codes = errors.map(({ extensions }) => extensions.code);
      expect(codes).not.toContain('INTERNAL');
      expect(codes.includes('FORBIDDEN')).toBe(row.kind === 'mutation');
    },
  );
});
