import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { createVault } from '../../src/encryption/vault.ts';
import { testConfig } from '../support/config.ts';
import type { CrashWriterInput } from '../support/crash-writer.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { drill } from '../support/drill.ts';
import { killChild, startTypescript } from '../support/run-typescript.ts';
import { expectNoDifference } from '../support/verify.ts';

const tenant = 'tenant-a';
const kills = drill({ sample: 3, all: 20 });
let scratch: TestDatabase;

beforeAll(async () => {
  scratch = await createTestDatabase();
  await scratch.close();
});

afterAll(() => scratch.drop());

interface Life {
  missing: string[] | undefined;
  torn: string[] | undefined;
  acknowledged: string[];
}

/** One process, from its start on what the last one left to its kill in the middle of a transaction. */
async function liveAndDie(acknowledged: string[], transactions: number): Promise<Life> {
  const input: CrashWriterInput = { options: scratch.options, tenant, acknowledged };
  const child = startTypescript('crash-writer', input);
  child.stderr.pipe(process.stderr);
  const life: Life = { missing: undefined, torn: undefined, acknowledged: [] };
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { missing?: string[]; torn?: string[]; acknowledged?: string };
    if (said.acknowledged === undefined) Object.assign(life, said);
    else life.acknowledged.push(said.acknowledged);
    if (life.acknowledged.length >= transactions && child.exitCode === null) child.kill('SIGKILL');
  }
  await killChild(child);
  return life;
}

test(`every acknowledged transaction survives ${kills} kills of the process, and none is torn`, async () => {
  const acknowledged: string[] = [];
  for (let kill = 0; kill <= kills; kill++) {
    const life = await liveAndDie(acknowledged, 1 + Math.floor(Math.random() * 25));
    expect(life.missing, `after kill ${kill}`).toEqual([]);
    expect(life.torn, `after kill ${kill}`).toEqual([]);
    expect(life.acknowledged.length).toBeGreaterThan(0);
    acknowledged.push(...life.acknowledged);
  }
  const db = await scratch.reopen();
  const rules = await db.forTenant(tenant).client.rule.findMany({ select: { id: true } });
  const found = new Set(rules.map(({ id }) => id));
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
  await expectNoDifference({ db, vault: createVault(testConfig(), createLogger(testConfig())) });
});
