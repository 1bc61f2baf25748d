import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openDatabase, type Database } from '../../src/db/database.ts';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import { insertMemories } from '../../src/db/queries/memories.ts';
import { readInput } from './run-typescript.ts';

/**
 * Opens what a killed process left, says what of its acknowledged work is missing, and then writes until it is killed
 * in turn, acknowledging each transaction when it has committed.
 */
export interface CrashWriterInput {
  options: DatabaseOptions;
  tenant: string;
  acknowledged: string[];
}

const { options, tenant, acknowledged } = readInput() as CrashWriterInput;
const database = await openDatabase(options);
const found = await listIds(database);
say({ missing: acknowledged.filter((id) => !found.rules.has(id)), torn: difference(found.rules, found.events) });
for (;;) say({ acknowledged: await writePair(database) });

/** A rule and the event of it, in one transaction: one without the other is a torn transaction. */
async function writePair(open: Database): Promise<string> {
  const id = randomUUID();
  const now = new Date();
  await open.forTenant(tenant).transaction(async (transaction) => {
    const event = { tenantId: tenant, id: randomUUID(), eventType: 'rule.stored', entityType: 'rule', entityId: id };
    const origin = { occurredAt: now, actor: 'test', requestId: 'test', payload: { before: null } };
    const columns = { id, content: 'Serve tea at five.', createdAt: now };
    await insertMemories(transaction, 'rule', [{ columns, embeddings: [], event: { ...event, ...origin } }]);
  });
  return id;
}

async function listIds(open: Database): Promise<{ rules: Set<string>; events: Set<string> }> {
  return open.forTenant(tenant).transaction(async (transaction) => {
    const rules = await transaction.rule.findMany({ select: { id: true } });
    const events = await transaction.memoryEvent.findMany({ select: { entityId: true } });
    return { rules: new Set(rules.map(({ id }) => id)), events: new Set(events.map(({ entityId }) => entityId)) };
  });
}

function difference(left: Set<string>, right: Set<string>): string[] {
  return [...left, ...right].filter((id) => !(left.has(id) && right.has(id)));
}

/** At once and past every buffer: what was said must have been said when the kill comes. */
function say(message: object): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}
