import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { readMasterKeys, type MasterKeys } from '../../src/encryption/master-keys.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { testConfig } from '../support/config.ts';
import { captureLog, encryptedConfig, masterKey } from '../support/encryption.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'butler-memory-master-key-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const warnings: string[] = [];
const read = (encryption: Partial<Config['encryption']>): MasterKeys =>
  readMasterKeys({ ...testConfig(), encryption: { predicates: [], ...encryption } }, (line) => warnings.push(line));

async function keyFile(content: string, mode: number): Promise<string> {
  const file = join(directory, `key-${mode.toString(8)}-${content.length}`);
  await writeFile(file, content);
  await chmod(file, mode);
  return file;
}

describe('the master key', () => {
  it('is the same from the environment and from a file, and has an id that does not hold it', async () => {
    const { current } = read({ masterKey: masterKey(5) });
    expect(read({ masterKeyFile: await keyFile(`${masterKey(5)}\n`, 0o600) }).current).toEqual(current);
    expect(current?.id).toMatch(/^[0-9a-f]{16}$/);
    expect(read({ masterKey: masterKey(6) }).current?.id).not.toBe(current?.id);
    expect(read({})).toEqual({ current: undefined, previous: undefined });
    expect(read({ previousMasterKey: masterKey(5) }).previous).toEqual(current);
  });

  it('is refused from a file that others may read, and told of when its group may', async () => {
    const open = await keyFile(masterKey(5), 0o644);
    expect(() => read({ masterKeyFile: open })).toThrow(
      `butler.encryption.master_key_file must be a file that its owner alone may read (got ${open} of mode 0644)`,
    );
    warnings.length = 0;
    const shared = await keyFile(masterKey(5), 0o640);
    expect(read({ masterKeyFile: shared }).current).toBeDefined();
    expect(warnings).toEqual([`butler.encryption.master_key_file: the group of ${shared} may read the key, too`]);
  });

  it('is refused in another form, twice, or from a file that is not there, and never shown', async () => {
    const short = await keyFile('c2hvcnQ=', 0o600);
    expect(() => read({ masterKeyFile: short })).toThrow(/44 characters \(got .*, which holds 8 characters\)$/);
    expect(() => read({ masterKey: masterKey(5), masterKeyFile: short })).toThrow(
      'butler.encryption.master_key must be either the key or master_key_file (got both)',
    );
    expect(() => read({ previousMasterKeyFile: join(directory, 'none') })).toThrow(
      /previous_master_key_file must be a file that can be read/,
    );
    const wrong = 'not-a-key-of-44-characters';
    expect(() => testConfig({ BUTLER_MEMORY_MASTER_KEY: wrong })).toThrow(/BUTLER_MEMORY_MASTER_KEY.*32 random bytes/);
    expect(() => testConfig({ BUTLER_MEMORY_MASTER_KEY: wrong })).not.toThrow(wrong);
  });

  it('has to be there while predicates are encrypted', () => {
    expect(() => createVault(encryptedConfig({ masterKey: undefined as never }), captureLog().logger)).toThrow(
      'butler.encryption.master_key must be 32 random bytes in base64 while predicates are encrypted: medical_* (got none)',
    );
  });
});
