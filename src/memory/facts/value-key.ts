import { createHash } from 'node:crypto';

/** Brings a value to the form in which two are compared: "Green  Tea." and "green tea" are one. */
export function normaliseValue(content: string): string {
  return content
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/^[\s"']+|[\s"'.,;!]+$/g, '');
}

/** A digest, because an index cannot hold a long text. */
export function digestValue(content: string): string {
  return createHash('sha256').update(normaliseValue(content)).digest('hex').slice(0, 32);
}
