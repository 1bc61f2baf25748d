import { createHmac, randomBytes } from 'node:crypto';
import { decrypt, encrypt } from './cipher.ts';
import { deriveKey, type MasterKey } from './master-keys.ts';

/** What the texts of one tenant are sealed with. In memory only; the database has it wrapped. */
export interface DataKey {
  readonly tenantId: string;
  readonly id: string;
  readonly sealingKey: Buffer;
  /** For digests of what is sealed: who has no key cannot try out what they may be of. */
  readonly digestKey: Buffer;
}

export interface DataKeyName {
  tenantId: string;
  id: string;
}

/** A key that nobody has seen, wrapped. */
export function newWrappedKey(master: MasterKey, name: DataKeyName): Buffer<ArrayBuffer> {
  return wrap(master, name, randomBytes(32));
}

/** Null when it was not wrapped by this master key for this tenant under this id. */
export function unwrapDataKey(master: MasterKey, name: DataKeyName, wrapped: Uint8Array): DataKey | null {
  const key = decrypt(master.wrappingKey, wrapped, bindToTenant(name));
  if (key === null) return null;
  return {
    ...name,
    sealingKey: deriveKey(key, 'butler-memory: sealing of facts'),
    digestKey: deriveKey(key, 'butler-memory: digests of inputs'),
  };
}

/** The same key, wrapped by another master key. */
export function rewrapDataKey(
  { from, to }: { from: MasterKey; to: MasterKey },
  name: DataKeyName,
  wrapped: Uint8Array,
): Buffer<ArrayBuffer> | null {
  const key = decrypt(from.wrappingKey, wrapped, bindToTenant(name));
  return key === null ? null : wrap(to, name, key);
}

function wrap(master: MasterKey, name: DataKeyName, key: Buffer): Buffer<ArrayBuffer> {
  return encrypt(master.wrappingKey, key, bindToTenant(name));
}

function bindToTenant({ tenantId, id }: DataKeyName): string[] {
  return ['data_keys.wrapped_key', tenantId, id];
}

/** Of a fact: what it says, and what its writer added. */
export interface SealedValues {
  content: string;
  tags: unknown;
  metadata: unknown;
}

/** Plaintext is padded to a multiple of this: the length must not distinguish "yes" from "no". */
const paddedBytes = 128;

export function sealValues(
  key: DataKey,
  factId: string,
  { content, tags, metadata }: SealedValues,
): Buffer<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify({ content, tags, metadata }));
  const padded = Buffer.alloc(Math.ceil(json.length / paddedBytes) * paddedBytes, ' ');
  json.copy(padded);
  return encrypt(key.sealingKey, padded, bindToFact(key, factId));
}

/** Null when it was not sealed under this key for this fact, or was changed since. */
export function openValues(key: DataKey, factId: string, sealed: Uint8Array): SealedValues | null {
  const json = decrypt(key.sealingKey, sealed, bindToFact(key, factId));
  return json === null ? null : (JSON.parse(json.toString()) as SealedValues);
}

/** Where a ciphertext belongs: it cannot be moved to another fact, tenant or column. */
function bindToFact({ tenantId, id }: DataKeyName, factId: string): string[] {
  return ['facts.sealed_content', tenantId, id, factId];
}

export function keyedDigest({ digestKey }: DataKey, text: string): string {
  return createHmac('sha256', digestKey).update(text).digest('hex');
}
