import { invalidInput } from '../shared/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Redactor } from '../redaction/redactor.ts';
import { checkJson } from './json.ts';
import { storable } from './text.ts';

export const metadataByteLimit = 65_536;

/** Free-form JSON as it is kept. Only `normaliseMetadata` makes it. */
export type KeptMetadata = Prisma.InputJsonObject & { readonly [kept]: true };

declare const kept: unique symbol;

/** The stored form of free-form JSON: as given, but for what text may not hold and what must not be kept. */
export function normaliseMetadata(redactor: Redactor, field: string, given: Prisma.InputJsonObject): KeptMetadata {
  // First, because all else here walks down recursively.
  checkJson(field, given);
  const json = JSON.stringify(given);
  const bytes = Buffer.byteLength(json);
  if (bytes > metadataByteLimit) throw invalidInput(field, `JSON of at most ${metadataByteLimit} bytes`, bytes);
  return keep(JSON.parse(json), { redactor, field, name: '' }) as KeptMetadata;
}

interface Place {
  redactor: Redactor;
  field: string;
  /** Of the value; that of the list for what is in one. */
  name: string;
}

function keep(value: unknown, place: Place): unknown {
  const { redactor, field, name } = place;
  if (typeof value === 'string') return redactor.redactValue(field, name, storable(field, value));
  if (typeof value === 'number') return keepNumber(value, place);
  if (Array.isArray(value)) return value.map((inner) => keep(inner, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([given, inner]) => {
      const shown = redactor.redact(field, storable(field, given));
      return [shown, keep(inner, { redactor, field, name: given })];
    }),
  );
}

/** A card may be written as a number, too. */
function keepNumber(value: number, { redactor, field, name }: Place): unknown {
  const text = String(value);
  const shown = redactor.redactValue(field, name, text);
  return shown === text ? value : shown;
}
