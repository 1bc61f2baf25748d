import { createHmac, hkdfSync } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../shared/errors.ts';

/** What data keys are wrapped by. Comes from the environment or a file, and is never in the database. */
export interface MasterKey {
  /** A fingerprint that tells nothing of the key: for people, and for the rows that it wrapped. */
  readonly id: string;
  readonly wrappingKey: Buffer;
}

export interface MasterKeys {
  /** Undefined where none is configured. */
  readonly current: MasterKey | undefined;
  /** The one before, for as long as data keys are still wrapped by it. */
  readonly previous: MasterKey | undefined;
}

export function readMasterKeys({ encryption }: Config, warn: (message: string) => void): MasterKeys {
  const { masterKey, masterKeyFile, previousMasterKey, previousMasterKeyFile } = encryption;
  return {
    current: readKey({ key: 'master_key', text: masterKey, file: masterKeyFile }, warn),
    previous: readKey({ key: 'previous_master_key', text: previousMasterKey, file: previousMasterKeyFile }, warn),
  };
}

interface Given {
  key: string;
  text: string | undefined;
  file: string | undefined;
}

function readKey({ key, text, file }: Given, warn: (message: string) => void): MasterKey | undefined {
  const name = `butler.encryption.${key}`;
  if (text !== undefined && file !== undefined) {
    throw new MemoryError('CONFIGURATION', `${name} must be either the key or ${key}_file (got both)`);
  }
  if (file === undefined) return text === undefined ? undefined : createMasterKey(Buffer.from(text, 'base64'));
  const written = readKeyFile(`${name}_file`, file, warn);
  if (!/^[A-Za-z0-9+/]{43}=$/.test(written)) {
    throw new MemoryError(
      'CONFIGURATION',
      `${name}_file must be 32 random bytes in base64, 44 characters (got ${file}, which holds ${written.length} characters)`,
    );
  }
  return createMasterKey(Buffer.from(written, 'base64'));
}

const othersMay = 0o007;
const groupMay = 0o070;

/** Refuses a file that everybody may read. Only warns if a group may: orchestrators hand out secrets that way. */
function readKeyFile(name: string, file: string, warn: (message: string) => void): string {
  try {
    const { mode } = statSync(file);
    const isTelling = process.platform !== 'win32';
    if (isTelling && (mode & othersMay) !== 0) {
      const given = `0${(mode & 0o777).toString(8)}`;
      throw new MemoryError(
        'CONFIGURATION',
        `${name} must be a file that its owner alone may read (got ${file} of mode ${given})`,
        {
          hint: `chmod 600 ${file}`,
        },
      );
    }
    if (isTelling && (mode & groupMay) !== 0) warn(`${name}: the group of ${file} may read the key, too`);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw new MemoryError('CONFIGURATION', `${name} must be a file that can be read (got ${file})`, { cause: error });
  }
}

/** Derives a key for each purpose, so that a leak of one reveals nothing of another. */
export function createMasterKey(key: Buffer): MasterKey {
  const id = createHmac('sha256', key).update('butler-memory: id of a master key').digest('hex').slice(0, 16);
  return { id, wrappingKey: deriveKey(key, 'butler-memory: wrapping of data keys') };
}

export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}
