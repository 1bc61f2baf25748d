import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { bindTools } from '../../src/mcp/server.ts';
import { toSnakeCase } from '../../src/shared/names.ts';
import { knownPaths } from '../../src/http/routes.ts';
import { callsOf, type Call, type Target } from './calls.ts';
import { beginTrial, callers, everything, headersOf, type Trial } from './trial.ts';
import { butlerOf, createWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.testApp.close());

interface Message {
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

async function send(trial: Trial, title: string, method: string, params: object): Promise<Message> {
  const response = await trial.post('/mcp', { jsonrpc: '2.0', id: 1, method, params });
  const text = await response.text();
  trial.check(`${title} with ${JSON.stringify(params)}`, params, text);
  expect(text, `${title}: what is unexpected is not tried`).not.toContain('INTERNAL');
  return JSON.parse(text) as Message;
}

/** Names in snake_case, but for those inside what a caller stores. */
function toSnake(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => toSnake(item, name));
  if (typeof value !== 'object' || value === null || ['metadata', 'evidence', 'output'].includes(name)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [toSnakeCase(key), toSnake(inner, key)]));
}

const tools = [...bindTools(schema).values()].map(
  ({ tool, operation }) => [tool.name as string, operation, tool.annotations.readOnlyHint === true] as const,
);

/** The tools are fields of GraphQL, where the others are on trial too. */
const callersOfTools = callers.filter(([, , tries]) => tries === everything);

describe.each(callersOfTools)('%s, over MCP,', (_name, caller) => {
  let trial: Trial;

  beforeAll(async () => {
    trial = await beginTrial(world, caller);
  });

  async function callsOfTool(operation: (typeof tools)[number][1]): Promise<Call[]> {
    const { field, hasInputObject } = operation;
    const input = field.args.find(({ name }) => name === 'input');
    return callsOf({
      owner: hasInputObject && input !== undefined ? String(input.type).replace('!', '') : `Query.${field.name}`,
      arguments: operation.arguments,
      ids: trial.ids,
      own: trial.own,
      others: trial.others,
      cursorOf: async () => undefined,
      confirmationOf: async () => 'none, as no tool erases',
    });
  }

  it.each(tools)('learns and changes nothing of others by the tool %s', async (name, operation, isReadOnly) => {
    let good = 0;
    for (const call of await callsOfTool(operation)) {
      const given = toSnake(call.given) as Record<string, unknown>;
      const { result } = await send(trial, `${name}, ${call.title}`, 'tools/call', { name, arguments: given });
      if (result !== undefined && result['isError'] !== true) good += 1;
    }
    await trial.expectOthersUntouched(name);
    const isOpen = isReadOnly || caller.visit === undefined;
    expect(good > 0, `${name} never answers: the trial is none`).toBe(isOpen);
  });

  it('learns nothing of others by a resource', async () => {
    const { result: fixed } = await send(trial, 'list', 'resources/list', {});
    const { result: templates } = await send(trial, 'list', 'resources/templates/list', {});
    const uris = ((fixed ?? {})['resources'] as { uri: string }[]).map(({ uri }) => uri);
    for (const { uriTemplate } of (templates ?? {})['resourceTemplates'] as { uriTemplate: string }[]) {
      uris.push(...urisOf(trial, uriTemplate));
    }
    let good = 0;
    for (const uri of uris) {
      const { result } = await send(trial, uri, 'resources/read', { uri });
      good += result === undefined ? 0 : 1;
    }
    await trial.expectOthersUntouched('resources');
    expect(good).toBeGreaterThan(4);
  });

  it('learns nothing of others by a prompt', async () => {
    const { result } = await send(trial, 'list', 'prompts/list', {});
    for (const prompt of (result ?? {})['prompts'] as { name: string; arguments: { name: string }[] }[]) {
      for (const target of [...trial.others, trial.own]) {
        const given = Object.fromEntries(prompt.arguments.map(({ name }) => [name, promptValue(name, target)]));
        await send(trial, prompt.name, 'prompts/get', { name: prompt.name, arguments: given });
      }
    }
    await trial.expectOthersUntouched('prompts');
  });

  it.each(knownPaths)('learns nothing of others at %s', async (path) => {
    const headers = { ...headersOf(world, caller), accept: 'application/json' };
    const response = await world.testApp.app.fetch(new Request(`http://localhost${path}`, { headers }));
    trial.check(path, path, await response.text());
  });

  it('cannot go on with the session of another', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const statuses: number[] = [];
    for (const { tenantId, owner } of trial.others) {
      const other = `Bearer ${world.tokenOf(butlerOf(tenantId, owner))}`;
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const post = (body: object, more: Record<string, string>): Promise<Response> =>
        world.testApp.app.fetch(
          new Request('http://localhost/mcp', {
            method: 'POST',
            headers: { ...headers, ...more },
            body: JSON.stringify(body),
          }),
        );
      const opened = await post(initialize, { authorization: other });
      const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? 'none' };
      const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };
      statuses.push((await post(list, { ...session, authorization: other })).status);
      statuses.push((await post(list, { ...session, ...headersOf(world, caller) })).status);
    }
    expect([...new Set(statuses)]).toEqual([200, 404]);
  });
});

function urisOf({ ids, own, others }: Trial, template: string): string[] {
  const type = /^memory:\/\/(episode|fact|rule)\/\{id\}$/.exec(template)?.[1] as
    | 'episode'
    | 'fact'
    | 'rule'
    | undefined;
  if (type === undefined) {
    throw new Error(
      `test/isolation/mcp.test.ts does not know the resource ${template}: say in urisOf what its variables are`,
    );
  }
  const shared = { ...own, owner: 'global' };
  return [...others, own, shared].map((target) => template.replace('{id}', ids.of(type, target)));
}

function promptValue(name: string, { owner }: Target): string {
  const values: Record<string, string> = { butler: owner, limit: '100' };
  const value = values[name];
  if (value === undefined) {
    throw new Error(
      `test/isolation/mcp.test.ts does not know the argument ${name} of a prompt: say in promptValue what it takes`,
    );
  }
  return value;
}
