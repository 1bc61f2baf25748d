import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** AES-256-GCM: authenticated encryption, so that a changed ciphertext does not decrypt. */
const algorithm = 'aes-256-gcm';
/** The first byte, so that another form can follow and both be read. */
const form = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** Random bytes from the system are unique enough as nonces for 2^32 texts under one key; no tenant writes so many. */
export function encrypt(key: Buffer, plaintext: Buffer, binding: readonly string[]): Buffer<ArrayBuffer> {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(encodeBinding(binding));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.of(form), nonce, ciphertext, cipher.getAuthTag()]);
}

/**
 * Null when the bytes are not what was encrypted under this key for this place: a changed byte, another key, or a
 * ciphertext that was moved. The error cannot say which.
 */
export function decrypt(key: Buffer, sealed: Uint8Array, binding: readonly string[]): Buffer | null {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes[0] !== form || bytes.length < 1 + nonceBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(encodeBinding(binding));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes, -tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
}

/** As JSON, in which no two lists of texts are the same. */
function encodeBinding(binding: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(binding));
}
