import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createToken, hashToken } from '../src/auth/tokens.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory, type MemoryCore } from '../src/create-memory.ts';
import { createTenantContext } from '../src/memory/context.ts';
import { storeEpisode } from '../src/memory/episodes/episodes.ts';
import { storeFact } from '../src/memory/facts/facts.ts';
import { undoEvent } from '../src/memory/history/undo.ts';
import { confirmMemory } from '../src/memory/confirm.ts';
import { forgetMemory } from '../src/memory/forgetting/forget.ts';
import { storeRule } from '../src/memory/rules/rules.ts';
import { createLogger } from '../src/shared/logger.ts';
import { ratio, type Benchmark, type Figure } from './benchmark.ts';

/** Round trips of each operation before the write path was shortened. */
const before: Record<string, number> = {
  storeEpisode: 7,
  'storeEpisode, sent again with its idempotency key': 8,
  'storeFact, new': 15,
  'storeFact, confirming': 14,
  'storeFact, superseding': 21,
  storeRule: 13,
  confirmMemory: 12,
  forgetMemory: 12,
  'token lookup': 4,
  'undo of a forgetting': 30,
};

export const roundTrips: Benchmark = {
  question:
    'How often does one operation wait for the database, begin and commit included, and how does that compare with what it took before the write path was shortened? Statements that pg sends are counted, on the embedded database, after one operation of each kind has filled the caches.',
  measure: async () => {
    const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
    const env = { BUTLER_MEMORY_HOME: home, BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing', LOG_LEVEL: 'warn' };
    const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
    countQueries();
    const core = await createMemory({ config, logger: createLogger(config) });
    try {
      return await countAll(core);
    } finally {
      await core.close();
      await rm(home, { recursive: true, force: true });
    }
  },
};

async function countAll(core: MemoryCore): Promise<Figure[]> {
  const context = createTenantContext(core, 'default');
  const fact = (content: string): ReturnType<typeof storeFact> =>
    storeFact(context, { subject: 'user', predicate: 'drinks', content });
  const { token } = await createToken(context, { name: 'bench', role: 'operator' });
  await storeEpisode(context, { butler: 'bench', content: 'The first write registers the embedding model' });
  const idempotent = { butler: 'bench', content: 'once', idempotencyKey: 'once' };
  await storeEpisode(context, idempotent);
  const { value } = await storeFact(context, { subject: 'user', predicate: 'reads', content: 'novels' });
  const known = { type: 'fact', id: value.id } as const;
  const figures = [
    await count('storeEpisode', () => storeEpisode(context, { butler: 'bench', content: 'tea at five' })),
    await count('storeEpisode, sent again with its idempotency key', () => storeEpisode(context, idempotent)),
    await count('storeFact, new', () => fact('tea')),
    await count('storeFact, confirming', () => fact('tea')),
    await count('storeFact, superseding', () => fact('coffee')),
    await count('storeRule', () => storeRule(context, { content: 'Serve tea at five' })),
    await count('confirmMemory', () => confirmMemory(context, known)),
    await count('forgetMemory', () => forgetMemory(context, known)),
    await count('token lookup', () => core.db.findToken(hashToken(token), new Date())),
  ];
  const { id } = await core.db.forTenant('default').client.memoryEvent.findFirstOrThrow({
    where: { eventType: 'fact.retracted' },
  });
  return [...figures, await count('undo of a forgetting', () => undoEvent(context, { eventId: id }))];
}

let sent = 0;

/** Before the first connection: each keeps the function that it finds. */
function countQueries(): void {
  const query = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => unknown;
  const counted = function counted(this: Client, ...given: unknown[]): unknown {
    sent++;
    return Reflect.apply(query, this, given);
  };
  Reflect.set(Client.prototype, 'query', counted);
}

async function count(what: string, work: () => Promise<unknown>): Promise<Figure> {
  const start = sent;
  await work();
  const taken = sent - start;
  const known = before[what];
  return { what, value: known === undefined ? String(taken) : `${taken} (${ratio(taken, known)} of ${known})` };
}
