import { invalidInput } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { storable } from './text.ts';

export const metadataByteLimit = 65_536;
export const metadataDepthLimit = 32;

/** The stored form of free-form JSON: as given, but for what text may not hold. */
export function normaliseMetadata(field: string, given: Prisma.InputJsonObject): Prisma.InputJsonObject {
  // First, because all else here walks down recursively.
  if (isDeeperThan(metadataDepthLimit, given)) {
    throw invalidInput(field, `nested at most ${metadataDepthLimit} levels deep`, metadataDepthLimit + 1);
  }
  const json = JSON.stringify(given);
  const bytes = Buffer.byteLength(json);
  if (bytes > metadataByteLimit) throw invalidInput(field, `JSON of at most ${metadataByteLimit} bytes`, bytes);
  return JSON.parse(json, (_name, value: unknown) => makeStorable(value)) as Prisma.InputJsonObject;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

function makeStorable(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storable(name), inner]));
}
