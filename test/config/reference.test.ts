import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { valueAt } from '../../src/config/build-config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { configReference, renderConfigReference } from '../../scripts/docs/config-reference.ts';
import { settings } from '../../src/config/schema.ts';

const root = join(import.meta.dirname, '../..');
const documentation = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
const exampleFile = readFileSync(join(root, 'butler.toml'), 'utf8');

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

describe('the reference', () => {
  it('names every key once, with what it must be and what it means', () => {
    const rows = configReference();
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    expect(rows.filter(({ allowed, description }) => allowed === '' || description === '')).toEqual([]);
    expect(rows).toContainEqual({
      key: 'butler.port',
      allowed: 'a whole number from 0 to 65535',
      default: '8150',
      environment: 'PORT',
      description: 'Port to listen on; 0 takes any free one',
    });
  });

  it('gives no two keys the same environment variable', () => {
    const variables = settings.flatMap(({ environment }) => environment ?? []);
    expect(new Set(variables).size).toBe(variables.length);
  });

  it('breaks no cell of its table', () => {
    const bars = renderConfigReference()
      .split('\n')
      .map((line) => line.split('|').length);
    expect(new Set(bars)).toEqual(new Set([7]));
  });
});

describe('docs/configuration.md', () => {
  it('holds the table that the schema gives', () => {
    const table = /<!-- keys:start -->\n\n(.*)\n\n<!-- keys:end -->/s.exec(documentation)?.[1];
    expect(table, 'replace what is between the markers by what renderConfigReference() returns').toBe(
      renderConfigReference(),
    );
  });

  it('shows the real message of its example', () => {
    const toml = /```toml\n(.*?)```/s.exec(documentation)?.[1] ?? '';
    const shown = /```text\n(.*?)\n```/s.exec(documentation)?.[1];
    const workingDirectory = mkdtempSync(join(tmpdir(), 'butler-config-'));
    writeFileSync(join(workingDirectory, 'butler.toml'), toml);
    const env = { LOG_LEVEL: 'verbose' };
    const message = messageOf(() => loadConfig({ env, workingDirectory, homeDirectory: '/home/someone' }));
    rmSync(workingDirectory, { recursive: true });
    expect(message.replaceAll(workingDirectory, '/etc/butler-memory')).toBe(shown);
  });
});

describe('butler.toml', () => {
  const load = (workingDirectory: string) => loadConfig({ env: {}, workingDirectory, homeDirectory: '/home/someone' });

  it('loads to the defaults', () => {
    const empty = mkdtempSync(join(tmpdir(), 'butler-config-'));
    const defaults = load(empty);
    rmSync(empty, { recursive: true });
    const loaded = load(root);
    expect(defaults.source.file).toBeUndefined();
    expect(loaded.source.file).toBe(join(root, 'butler.toml'));
    expect(loaded.config).toEqual(defaults.config);
  });

  it('shows a dozen or so keys, and none that does not exist, commented lines included', () => {
    const tables = parse(exampleFile.replaceAll(/^# (?=\w+ = )/gm, ''));
    const shown = settings.filter(({ path }) => valueAt(tables, path) !== undefined);
    const lines = exampleFile.split('\n').filter((line) => /^(?:# )?\w+ = /.test(line));
    expect(shown.length).toBe(lines.length);
    expect(shown.length).toBeLessThan(20);
  });
});
