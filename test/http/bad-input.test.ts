import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { writeCursor } from '../../src/memory/cursors.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { expectNoInternals } from '../support/internals.ts';

/** What a caller gets wrong is told to the caller, and leaves no stack trace in the log. */

let testApp: TestApp;
let log = '';
beforeAll(async () => {
  const config = { ...testConfig(), log: { level: 'warn' as const } };
  testApp = await createTestApp(config, createLogger(config, { write: (line) => void (log += line) }));
});
afterAll(() => testApp.close());

const fetch = (request: Request): Promise<Response> => testApp.app.fetch(request);

async function expectRefused(query: string, variables: Record<string, unknown>, message: RegExp): Promise<void> {
  log = '';
  const { operations } = testApp.app;
  const contextValue = testApp.app.createContext({}, { tenantId: 'default', butler: null, role: 'admin' });
  const document = operations.parse(query);
  const { errors } = await operations.execute({ document, variableValues: variables, contextValue });
  expect(errors?.[0]).toMatchObject({
    message: expect.stringMatching(message) as string,
    extensions: { code: 'INVALID_INPUT' },
  });
  expect(log).toBe('');
}

const at = '2026-02-01T00:00:00Z';
const connections: Record<string, string> = {
  accesses: 'accesses(ARGS) { totalCount }',
  activity: 'activity(ARGS) { totalCount }',
  'asOf.episodes': `asOf(at: "${at}") { episodes(ARGS) { totalCount } }`,
  'asOf.facts': `asOf(at: "${at}") { facts(ARGS) { totalCount } }`,
  'asOf.rules': `asOf(at: "${at}") { rules(ARGS) { totalCount } }`,
  consolidationRuns: 'consolidationRuns(ARGS) { totalCount }',
  'diff.changes': `diff(from: "${at}", to: "2026-03-01T00:00:00Z") { changes(ARGS) { totalCount } }`,
  fading: 'fading(ARGS) { totalCount }',
  facts: 'facts(ARGS) { totalCount }',
  jobRuns: 'jobRuns(ARGS) { totalCount }',
  quarantine: 'quarantine(ARGS) { totalCount }',
  reviews: 'reviews(ARGS) { totalCount }',
  timeline: 'timeline(ARGS) { totalCount }',
};

const encode = (text: string): string => Buffer.from(text).toString('base64');
const forgeries = [
  'nonsense',
  '\0',
  '\uD800',
  encode('OffsetConnection:0'),
  encode('OffsetConnection:NaN'),
  encode('OffsetConnection:99999999999999999999'),
  encode('null'),
  encode('[]'),
  encode('[1]'),
  ...[-1, 0.5, 1e300, '0', null, {}, '\0'].map((offset) => writeCursor('accesses', [offset])),
  encode(JSON.stringify([2, 'accesses', 0])),
  writeCursor('no such list', [0]),
  writeCursor('fading', ['2026-03-01T00:00:00Z', 'no uuid']),
  writeCursor('fading', ['+275000-01-01T00:00:00Z', '01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a']),
];

describe('a forged cursor', () => {
  it.each(Object.keys(connections))('of %s is refused', async (name) => {
    for (const argument of ['after', 'before']) {
      for (const forged of forgeries) {
        const field = connections[name]?.replace('ARGS', `first: 2, ${argument}: $cursor`);
        await expectRefused(`query ($cursor: String) { ${field} }`, { cursor: forged }, /cursor of/);
      }
    }
  });
});

it('a cursor of one list is refused by another', async () => {
  await expectRefused(
    'query ($cursor: String) { jobRuns(after: $cursor) { totalCount } }',
    { cursor: writeCursor('accesses', [0]) },
    /cursor of/,
  );
});

it.each([
  ['asOf.facts, scope', `asOf(at: "${at}") { facts(scope: $text) { totalCount } }`],
  ['asOf.facts, subject', `asOf(at: "${at}") { facts(subject: $text) { totalCount } }`],
  ['asOf.facts, predicate', `asOf(at: "${at}") { facts(predicate: $text) { totalCount } }`],
  ['asOf.episodes, scope', `asOf(at: "${at}") { episodes(scope: $text) { totalCount } }`],
  ['consolidationRuns, butler', 'consolidationRuns(filter: { butler: $text }) { totalCount }'],
])('text that no database takes is refused as a filter: %s', async (_name, field) => {
  for (const text of ['a\0b', '\uD800', 'x'.repeat(3000)]) {
    await expectRefused(`query ($text: String) { ${field} }`, { text }, /1 to \d+ printable characters/);
  }
});

it.each([
  ['variables that are no JSON', 'query=%7B__typename%7D&variables=%7B', /variables/],
  ['extensions that are no JSON', 'query=%7B__typename%7D&extensions=%5B', /extensions/],
  ['variables that are a list', 'query=%7B__typename%7D&variables=%5B%5D', /variables/],
  ['variables that are a number', 'query=%7B__typename%7D&variables=5', /variables/],
])('GET with %s is refused with 400', async (_name, parameters, message) => {
  log = '';
  const headers = { accept: 'application/json' };
  const response = await fetch(new Request(`http://localhost/graphql?${parameters}`, { headers }));
  const text = await response.text();

  expect([response.status, text]).toEqual([400, expect.stringMatching(message)]);
  expect(text).toContain('BAD_REQUEST');
  expectNoInternals(text);
  expect(log).toBe('');
});
