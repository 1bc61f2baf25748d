import { vi } from 'vitest';

/**
 * Repeats a check until it passes. The limit only ends a test that would wait for ever: vitest's own, of one second, is
 * too short on a busy machine.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 120_000, interval: 20 });
}
