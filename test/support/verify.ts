import { expect } from 'vitest';
import type { MemoryCore } from '../../src/create-memory.ts';
import { verifyTenants } from '../../src/commands/verify.ts';

/** Runs `butler-memory verify` over every tenant: the tables are what their events add up to. */
export async function expectNoDifference({ db, vault }: Pick<MemoryCore, 'db' | 'vault'>): Promise<void> {
  const lines: string[] = [];
  await verifyTenants({ db, vault: () => vault }, {}, (line) => lines.push(line));
  expect(lines).toEqual(['no difference']);
}
