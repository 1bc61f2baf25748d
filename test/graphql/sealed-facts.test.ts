import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Fact } from '../../src/memory/facts/facts.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { encryptedConfig } from '../support/encryption.ts';
import { storeFact } from '../support/writes.ts';

let testApp: TestApp;
let fact: Fact;
const said = { content: 'asthma', tags: ['lungs'], metadata: { since: 2019 } };

beforeAll(async () => {
  testApp = await createTestApp(encryptedConfig());
  const given = { subject: 'user', predicate: 'medical_condition', ...said };
  fact = await storeFact(testApp.app.createContext().memory, given);
});
afterAll(() => testApp.close());

async function ask(query: string): Promise<{ data?: Record<string, unknown>; errors?: { message: string }[] }> {
  const request = new Request('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return (await testApp.app.fetch(request)).json() as Promise<{ data?: Record<string, unknown> }>;
}

const fields = 'content tags metadata ... on Fact { isSealed }';
const told = { ...said, isSealed: true };

it.each([
  ['one by its id', () => `{ fact(id: "${fact.id}") { ${fields} } }`, { fact: told }],
  ['anything by its global id', () => `{ node(id: "fact:${fact.id}") { ... on Fact { ${fields} } } }`, { node: told }],
  ['a list', () => `{ facts(first: 5) { edges { node { ${fields} } } } }`, { facts: { edges: [{ node: told }] } }],
  [
    'the timeline',
    () => `{ timeline(first: 5) { edges { node { memory { ${fields} } } } } }`,
    { timeline: { edges: [{ node: { memory: told } }] } },
  ],
  [
    'activity, with what events keep',
    () => `{ activity(first: 1) { edges { node { after memory { ${fields} } } } } }`,
    { activity: { edges: [{ node: { after: said, memory: told } }] } },
  ],
])('a sealed fact is told in plain as %s', async (_where, query, expected) => {
  const { data, errors } = await ask(query());
  expect(errors).toBeUndefined();
  expect(data).toMatchObject(expected);
  expect(JSON.stringify(data)).not.toMatch(/sealed_content|data_key_id|\*\*\*/);
});

it('a sealed fact that was tampered with is named by an error, and can be listed without its content', async () => {
  const flipBit = 'UPDATE facts SET sealed_content = set_byte(sealed_content, 20, get_byte(sealed_content, 20) # 1)';
  await testApp.core.db.asOwner((client) => client.query(flipBit));
  const { errors } = await ask(`{ fact(id: "${fact.id}") { content } }`);
  expect(errors).toMatchObject([
    { message: expect.stringMatching(`^fact ${fact.id} cannot be read`), extensions: { code: 'UNREADABLE' } },
  ]);
  const { data } = await ask('{ facts(first: 5) { edges { node { uuid subject predicate } } } }');
  expect(data).toEqual({
    facts: { edges: [{ node: { uuid: fact.id, subject: 'user', predicate: 'medical_condition' } }] },
  });
  await testApp.core.db.asOwner((client) => client.query(flipBit));
});
