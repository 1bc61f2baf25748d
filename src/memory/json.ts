import { describeGiven, MemoryError } from '../shared/errors.ts';

export const jsonDepthLimit = 32;

/**
 * Refuses JSON that is nested too deep for what walks down it, and a key that stands for something else than a value in
 * JavaScript: libraries drop it, or throw when a stored row holds it.
 */
export function checkJson(field: string, value: unknown): void {
  if (isDeeperThan(jsonDepthLimit, value)) {
    throw new MemoryError('INVALID_INPUT', `${field} must be nested at most ${jsonDepthLimit} levels deep (got more)`);
  }
  const path = findReservedKey(value);
  if (path === null) return;
  throw new MemoryError('INVALID_INPUT', `${field} must not hold the key "__proto__" (got ${describeGiven(path)})`, {
    hint: 'Give the key another name.',
  });
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

/** Where the key is: the names that lead to it, with dots between them. */
function findReservedKey(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') return name;
    const path = findReservedKey(inner);
    if (path !== null) return `${name}.${path}`;
  }
  return null;
}
