import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import type { DataKey } from './data-key.ts';
import { readMasterKeys, type MasterKey, type MasterKeys } from './master-keys.ts';
import { patternSource } from './predicate-patterns.ts';
import { MemoryError } from '../shared/errors.ts';

/** What a process knows of keys: the master keys, and the data keys that it had to do with lately. */
export interface Vault {
  readonly masterKeys: MasterKeys;
  /** A regular expression for the predicates, in the form of keys, whose facts are sealed; null where none are. */
  readonly patternSource: string | null;
  /** Data keys by tenant and id. */
  readonly dataKeys: LRUCache<string, DataKey>;
  /** Whether facts of a predicate are sealed, by the predicate as it is written. */
  readonly isSealed: LRUCache<string, boolean>;
  /** Tenants that are known to have a data key. */
  readonly tenants: LRUCache<string, true>;
}

const mostDataKeys = 1000;
const mostPredicates = 5000;
const mostTenants = 5000;

/** Throws CONFIGURATION when facts are to be sealed and there is no key to do it with. */
export function createVault(config: Config, logger: Pick<Logger, 'warn'>): Vault {
  const masterKeys = readMasterKeys(config, (message) => logger.warn(message));
  const { predicates } = config.encryption;
  if (predicates.length > 0 && masterKeys.current === undefined) {
    throw new MemoryError(
      'CONFIGURATION',
      `butler.encryption.master_key must be 32 random bytes in base64 while predicates are encrypted: ${predicates.join(', ')} (got none)`,
      { hint: 'Set BUTLER_MEMORY_MASTER_KEY, or master_key_file. `openssl rand -base64 32` makes a key.' },
    );
  }
  return {
    masterKeys,
    patternSource: patternSource(predicates),
    dataKeys: new LRUCache({ max: mostDataKeys }),
    isSealed: new LRUCache({ max: mostPredicates }),
    tenants: new LRUCache({ max: mostTenants }),
  };
}

export function findMasterKey({ masterKeys: { current, previous } }: Vault, id: string): MasterKey | undefined {
  return [current, previous].find((key) => key?.id === id);
}

/** Refuses to go on without the key of what is stored: what cannot be read must be known before it is asked for. */
export async function requireMasterKeys(
  db: Database,
  vault: Vault,
): Promise<{ masterKeyId: string; dataKeys: number }[]> {
  const used = await db.listMasterKeys();
  const missing = used.filter(({ masterKeyId }) => findMasterKey(vault, masterKeyId) === undefined);
  if (missing.length === 0) return used;
  const needed = missing.map(({ masterKeyId, dataKeys }) => `${masterKeyId} (${dataKeys} data keys)`).join(', ');
  const { current, previous } = vault.masterKeys;
  const given = [current, previous].flatMap((key) => (key === undefined ? [] : [key.id])).join(', ');
  throw new MemoryError(
    'CONFIGURATION',
    `butler.encryption.master_key must be the key of the facts that are encrypted in ${db.location}, of id ${needed} (got ${given === '' ? 'none' : `a key of id ${given}`})`,
    { hint: 'Give the key that was used so far as BUTLER_MEMORY_PREVIOUS_MASTER_KEY if it is to be replaced.' },
  );
}
