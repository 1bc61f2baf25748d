import { getNamedType, isCompositeType, type GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { bindTools } from '../../src/mcp/server.ts';
import { toSnakeCase } from '../../src/shared/names.ts';
import { drill } from '../support/drill.ts';
import { canaries, dumpTables, leaksIn, redactionConfig } from '../redaction/canaries.ts';
import { callsOf, type Argument, type Call } from './calls.ts';
import { beginTrial, type Trial } from './trial.ts';
import { createWorld, operatorOf, tenants, type World } from './world.ts';

/**
 * Every text that a field or tool takes, one after the other, with secrets in it: made up from the schema, so that a new
 * argument is tried without being listed. Whatever is answered, none of it may be left anywhere.
 */

let world: World;
let trial: Trial;
let log = '';

beforeAll(async () => {
  const config = redactionConfig({}, { LOG_LEVEL: 'trace' });
  world = await createWorld(config, createLogger(config, { write: (line) => void (log += line) }));
  trial = await beginTrial(world, operatorOf(tenants[0]));
});
afterAll(() => world.testApp.close());

const secrets = ['card', 'key', 'password'].map((name) => canaries[name]?.text).join(' and ');

/** The same call once for each text in it, with the secrets in the place of that text; names of a JSON object too. */
function spoiled(given: unknown): unknown[] {
  if (typeof given === 'string') return [secrets, `${given} ${secrets}`];
  if (typeof given !== 'object' || given === null) return [];
  if (Array.isArray(given)) {
    return given.flatMap((value, place) => spoiled(value).map((bad) => given.with(place, bad)));
  }
  return Object.entries(given).flatMap(([name, value]) => spoiled(value).map((bad) => ({ ...given, [name]: bad })));
}

async function callsWith(owner: string, args: readonly Argument[]): Promise<unknown[]> {
  const { own, others, ids } = trial;
  const options = {
    owner,
    arguments: args,
    ids,
    own,
    others,
    cursorOf: async () => undefined,
    confirmationOf: async () => 'none',
  };
  const calls: Call[] = (await callsOf(options)).filter(({ title }) => /^(own|all own)/.test(title));
  return calls.flatMap(({ given }) => spoiled(given)).map(withNewKeys);
}

let keys = 0;

/** The same key with another input would be refused, and nothing tried. */
function withNewKeys(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(withNewKeys);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isKey = name === 'idempotencyKey' && leaksIn(String(value)).length === 0;
      return [name, isKey ? `${String(value)} ${++keys}` : withNewKeys(value)];
    }),
  );
}

type Field = GraphQLField<unknown, unknown>;

const fields = [
  ...Object.values(schema.getMutationType()?.getFields() ?? {}).map((field) => ['mutation', field] as const),
  ...Object.values(schema.getQueryType()?.getFields() ?? {}).map((field) => ['query', field] as const),
].map(([kind, field]) => [`${kind} ${field.name}`, kind, field] as const);

function documentOf(kind: string, field: Field, variables: Record<string, unknown>): object {
  const asked = field.args.filter(({ name }) => variables[name] !== undefined);
  const head = asked.map(({ name, type }) => `$${name}: ${type.toString()}`).join(', ');
  const tail = asked.map(({ name }) => `${name}: $${name}`).join(', ');
  const selection = isCompositeType(getNamedType(field.type)) ? '{ __typename }' : '';
  return { query: `${kind} Trial(${head}) { ${field.name}(${tail}) ${selection} }`, variables };
}

/** One in three, but for those after which the last test looks. */
function sampleOf<Row extends readonly [string, ...unknown[]]>(rows: readonly Row[]): readonly Row[] {
  const isKept = ([name]: Row): boolean =>
    /^mutation store|markRule|consolidat|^query (context|recall)|memory_context/i.test(name);
  return drill({ sample: rows.filter((row, place) => place % 3 === 0 || isKept(row)), all: rows });
}

async function leaks(): Promise<string[]> {
  const rows = await dumpTables(world.testApp.core.db);
  return [...rows, ...log.split('\n')].flatMap((text) => {
    const found = leaksIn(text);
    return found.length === 0 ? [] : [`${found.join(', ')} in ${text.slice(0, 200)}`];
  });
}

describe('a secret in any text that is given', () => {
  it.each(sampleOf(fields))('by the %s is kept nowhere', async (name, kind, field) => {
    if (kind === 'mutation') await trial.renew(field.name);
    const calls = await callsWith(`${kind === 'query' ? 'Query' : 'Mutation'}.${field.name}`, field.args);
    for (const given of calls) {
      const response = await trial.post('/graphql', documentOf(kind, field, given as never), 'application/json');
      const text = await response.text();
      expect(text, `${name}: what is unexpected is not tried`).not.toContain('INTERNAL');
    }
    expect(await leaks(), name).toEqual([]);
  });

  const tools = [...bindTools(schema).values()].map(({ tool, operation }) => [tool.name as string, operation] as const);

  it.each(sampleOf(tools))('by the tool %s is kept nowhere', async (name, operation) => {
    const { field, hasInputObject } = operation;
    const input = field.args.find((argument) => argument.name === 'input');
    const owner = hasInputObject && input !== undefined ? String(input.type).replace('!', '') : `Query.${field.name}`;
    const calls = await callsWith(owner, operation.arguments);
    const contexts = ['request_id', 'segment_id'].map((id) => ({
      request_context: { request_id: 'a', [id]: canaries['key']?.text },
    }));
    for (const given of [...calls, ...contexts]) {
      const params = { name, arguments: inSnakeCase(given) };
      await trial.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    }
    expect(await leaks(), name).toEqual([]);
  });
});

it('is tried where something is kept', async () => {
  const marked = (await dumpTables(world.testApp.core.db)).filter((row) => row.includes('[redacted:card]'));
  const tables = new Set(marked.map((row) => row.split(':')[0]));
  const expected = ['episodes', 'facts', 'rules', 'rule_applications', 'context_receipts', 'memory_events'];
  expect(expected.filter((table) => !tables.has(`public.${table}`))).toEqual([]);
});

/** But for what is inside what a caller stores. */
function inSnakeCase(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => inSnakeCase(item, name));
  if (typeof value !== 'object' || value === null || ['metadata', 'evidence', 'output'].includes(name)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [toSnakeCase(key), inSnakeCase(inner, key)]));
}
