import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';

let log = '';
let testApp: TestApp;

beforeAll(async () => {
  const config = { ...testConfig(), log: { level: 'debug' as const } };
  testApp = await createTestApp(config, createLogger(config, { write: (line) => void (log += line) }));
});
afterAll(() => testApp.close());

async function levelOf(path: string): Promise<string> {
  log = '';
  await testApp.app.fetch(new Request(`http://127.0.0.1${path}`));
  const lines = log.trimEnd().split('\n');
  const requests = lines.map((line) => JSON.parse(line) as { level: string; msg: string; path?: string });
  return requests
    .filter(({ msg }) => msg === 'request')
    .map((line) => `${line.level} ${line.path}`)
    .join();
}

it.each(['/healthz', '/readyz', '/metrics'])(
  '%s, which machines ask all the time, is logged at debug',
  async (path) => {
    expect(await levelOf(path)).toBe(`debug ${path}`);
  },
);

it.each(['/', '/graphql?query=%7B__typename%7D'])('%s is logged at info', async (path) => {
  expect(await levelOf(path)).toBe(`info ${path.split('?')[0]}`);
});
