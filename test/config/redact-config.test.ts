import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { hidePasswords, redactConfig } from '../../src/config/redact-config.ts';

const load = (env: Record<string, string>) =>
  loadConfig({ env, workingDirectory: '/nowhere', homeDirectory: '/home/someone' }).config;

describe('redactConfig', () => {
  it('hides the passwords of both database URLs and nothing else', () => {
    const config = load({
      DATABASE_URL: 'postgres://app:hunter2@db.example:5432/memory?sslmode=require',
      MIGRATION_DATABASE_URL: 'postgres://owner:hunter3@db.example/memory',
    });
    const redacted = redactConfig(config);
    expect(redacted).toEqual({
      ...config,
      db: {
        ...config.db,
        url: 'postgres://app:***@db.example:5432/memory?sslmode=require',
        migrationUrl: 'postgres://owner:***@db.example/memory',
      },
    });
    expect(config.db.url).toContain('hunter2');
    expect(Object.isFrozen(redacted.db)).toBe(true);
  });

  it('hides the key of the model as a whole', () => {
    const config = load({ BUTLER_MEMORY_LLM_API_KEY: 'sk-hunter4' });
    const { memory, ...others } = redactConfig(config);
    expect(memory.consolidation.llm.apiKey).toBe('***');
    expect(JSON.stringify([memory, others])).not.toContain('hunter4');
    expect(config.memory.consolidation.llm.apiKey).toBe('sk-hunter4');
  });

  it('changes nothing where there is no URL', () => {
    const config = load({});
    expect(redactConfig(config)).toStrictEqual(config);
  });
});

describe('hidePasswords', () => {
  it.each([
    ['postgres://u:p@h/d', 'postgres://u:***@h/d'],
    ['postgres://:p@h/d', 'postgres://:***@h/d'],
    ['postgres://u:p@ss:w/rd@h/d', 'postgres://u:***@h/d'],
    ['postgres://u:p@/d?host=/run/postgresql', 'postgres://u:***@/d?host=/run/postgresql'],
    ['postgres://h/d?user=u&password=p&sslmode=require', 'postgres://h/d?user=u&password=***&sslmode=require'],
    ['postgres://h/d?sslPassword=p', 'postgres://h/d?sslPassword=***'],
    ['see postgres://u:p@h/d', 'see postgres://u:***@h/d'],
    ['postgres://u@[::1]:5432/d', 'postgres://u@[::1]:5432/d'],
    ['postgres://h:5432/d', 'postgres://h:5432/d'],
    ['someone@example.org: hello', 'someone@example.org: hello'],
    ['', ''],
  ])('%s becomes %s', (given, expected) => {
    expect(hidePasswords(given)).toBe(expected);
  });
});
