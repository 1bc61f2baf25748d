import { describe, expect, it } from 'vitest';
import { decrypt, encrypt } from '../../src/encryption/cipher.ts';
import {
  keyedDigest,
  newWrappedKey,
  openValues,
  rewrapDataKey,
  sealValues,
  unwrapDataKey,
  type DataKey,
} from '../../src/encryption/data-key.ts';
import { createMasterKey } from '../../src/encryption/master-keys.ts';

const key = Buffer.alloc(32, 7);
const text = Buffer.from('plain text');

describe('a ciphertext', () => {
  it('reads back under its key and at its place only', () => {
    const sealed = encrypt(key, text, ['table', 'row']);
    expect(decrypt(key, sealed, ['table', 'row'])?.toString()).toBe('plain text');
    expect(decrypt(Buffer.alloc(32, 8), sealed, ['table', 'row'])).toBeNull();
    expect(decrypt(key, sealed, ['table', 'other'])).toBeNull();
    expect(decrypt(key, sealed, ['tablerow'])).toBeNull();
  });

  it('is refused when any of its bytes was changed, or it was cut', () => {
    const sealed = encrypt(key, text, []);
    for (const place of sealed.keys()) {
      const changed = Buffer.from(sealed);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(decrypt(key, changed, [])).toBeNull();
      expect(decrypt(key, sealed.subarray(0, place), [])).toBeNull();
    }
  });

  it('is another one each time', () => {
    expect(encrypt(key, text, []).equals(encrypt(key, text, []))).toBe(false);
  });
});

describe('a data key', () => {
  const [master, other] = [createMasterKey(Buffer.alloc(32, 1)), createMasterKey(Buffer.alloc(32, 2))];
  const name = { tenantId: 'home', id: 'key-1' };
  const wrapped = newWrappedKey(master, name);
  const dataKey = unwrapDataKey(master, name, wrapped) as DataKey;

  it('is unwrapped by its master key, for its tenant and under its id', () => {
    expect(dataKey).toMatchObject(name);
    expect(unwrapDataKey(other, name, wrapped)).toBeNull();
    expect(unwrapDataKey(master, { ...name, tenantId: 'work' }, wrapped)).toBeNull();
    expect(unwrapDataKey(master, { ...name, id: 'key-2' }, wrapped)).toBeNull();
  });

  it('is the same key when another master key has wrapped it', () => {
    const rewrapped = rewrapDataKey({ from: master, to: other }, name, wrapped);
    expect(unwrapDataKey(other, name, rewrapped as Buffer)).toEqual(dataKey);
    expect(rewrapDataKey({ from: other, to: master }, name, wrapped)).toBeNull();
  });

  it('opens what it sealed for a fact, and nothing that was moved to another', () => {
    const said = { content: 'a\u{1F9A0}', tags: ['b'], metadata: { c: [1, null] } };
    const sealed = sealValues(dataKey, 'fact-1', said);
    expect(openValues(dataKey, 'fact-1', sealed)).toEqual(said);
    expect(openValues(dataKey, 'fact-2', sealed)).toBeNull();
    const foreign = { tenantId: 'work', id: 'key-1' };
    const key2 = unwrapDataKey(master, foreign, newWrappedKey(master, foreign)) as DataKey;
    expect(openValues(key2, 'fact-1', sealed)).toBeNull();
  });

  it('does not tell short texts apart by their length', () => {
    const lengthOf = (content: string): number =>
      sealValues(dataKey, 'fact-1', { content, tags: [], metadata: {} }).length;
    expect(lengthOf('negative')).toBe(lengthOf('no'));
    expect(lengthOf('x'.repeat(1000))).toBeGreaterThan(lengthOf('x'));
  });

  it('gives digests that differ from those of other keys', () => {
    const [mine, theirs] = [dataKey, unwrapDataKey(master, name, newWrappedKey(master, name)) as DataKey];
    expect(keyedDigest(mine, 'yes')).toBe(keyedDigest(dataKey, 'yes'));
    expect(keyedDigest(mine, 'yes')).not.toBe(keyedDigest(theirs, 'yes'));
  });
});
