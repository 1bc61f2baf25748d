import { PrismaPg } from '@prisma/adapter-pg';
import type { PoolClient } from 'pg';
import { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { DatabaseOptions, Engine, EngineName } from './engines/engine.ts';
import { toMemoryError } from './database-errors.ts';
import { EventHub, hasEvents, type EventSignal } from './events/event-signal.ts';
import { openEngine } from './engines/open-engine.ts';
import { RoundTrips } from './round-trip.ts';
import { milliseconds, readMoments } from './sql/moments.ts';
import { Turns } from './turns.ts';
import type { WithStoredFacts } from './stored-fact.ts';

declare const transactional: unique symbol;

/** Runs statements within the rows of one tenant. Outside a `Transaction`, each is a transaction of its own. */
export type TenantClient = WithStoredFacts<Prisma.TransactionClient> & { readonly tenantId: string };

/** Runs statements that commit together. What takes a lock asks for this type: elsewhere the lock would not last. */
export type Transaction = TenantClient & { readonly [transactional]: true };

/** The database as one caller may use it: bound to one tenant, perhaps to one butler of it, perhaps read-only. */
export interface TenantDatabase {
  readonly tenantId: string;
  /** For single statements that need no common snapshot, such as the reads of GraphQL resolvers. */
  readonly client: TenantClient;
  /** Commits all that `work` does, or nothing. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs statements as one transaction in one round trip. Returns one value for each: the first column of its first
   * row, as text (JSON where a statement returns more). `settings` hold for these statements only.
   */
  roundTrip(statements: readonly Prisma.Sql[], settings?: Readonly<Record<string, string>>): Promise<(string | null)[]>;
  /**
   * Runs `work` when all earlier work of the same key in this process has ended. Writers that would wait for one lock in
   * the database wait here instead, where waiting takes no connection.
   */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The database of all tenants: queue, event signals, other tenants. */
  readonly database: Database;
}

/** How much of a tenant may be used. */
export interface Reach {
  /** Confines to global rows and to those of this butler. */
  butler?: string;
  /** Rejects writes, except by a round trip that sets `transaction_read_only` to off. */
  readOnly?: boolean;
}

export interface Database {
  readonly engine: EngineName;
  /** Where the data is, for people; no password in it. */
  readonly location: string;
  /** Whether it was created when it was opened. */
  readonly isNew: boolean;
  /** Binds the database to one tenant: row-level security hides every other tenant's rows. */
  forTenant(tenantId: string, reach?: Reach): TenantDatabase;
  /** Whether there is such a tenant. */
  hasTenant(tenantId: string): Promise<boolean>;
  /** Finds the token with this hash, if it is valid at that moment. */
  findToken(hash: string, at: Date): Promise<FoundToken | undefined>;
  /** The tenants that have stored anything: for sweeps, which then visit each within its own boundary. */
  listTenants(): Promise<string[]>;
  /** The master keys that data keys are wrapped by, by their fingerprints, but for those that are lost. */
  listMasterKeys(): Promise<{ masterKeyId: string; dataKeys: number }[]>;
  /** The job queue's statements. Its role sees no tenant's rows. */
  queueQuery(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** As the owner of the tables: migrations, storage maintenance, doctor. No statement timeout. */
  asOwner<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Tells when transactions that wrote events have ended. */
  readonly events: EventSignal;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface FoundToken {
  tenantId: string;
  id: string;
  butler: string | null;
  role: string;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  /** The tenants that it may enter; '*' stands for all. */
  across: string[];
  acrossWrite: boolean;
}

export async function openDatabase(
  options: DatabaseOptions,
  opening: Promise<Engine> = openEngine(options),
): Promise<Database> {
  const engine = await opening.catch(rethrow);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(engine.pool),
    transactionOptions: { maxWait: options.transactionTimeoutMs, timeout: options.transactionTimeoutMs },
  });
  const events = new EventHub(engine.eventChannel);
  const turns = new Turns();
  const roundTrips = new RoundTrips((work) => withClient(engine.pool, work));
  /** Returns the JSON value of one statement of the maintenance role, which sees no tenant's rows. */
  const askMaintenance = async <T>(statement: Prisma.Sql): Promise<T | undefined> => {
    const [, answer] = await roundTrips.send([enterMaintenance(options), statement]).catch(rethrow);
    return answer == null ? undefined : (JSON.parse(answer) as T);
  };
  const database: Database = {
    engine: engine.name,
    location: engine.location,
    isNew: engine.isNew,
    events,
    findToken: async (hash, at) => {
      const found = await askMaintenance<FoundToken & Record<string, unknown>>(Prisma.sql`
        SELECT row_to_json(t)::text FROM (
          SELECT tenant_id AS "tenantId", id::text, butler, role, across, across_write AS "acrossWrite",
            ${Prisma.raw(milliseconds('last_used_at'))} AS "lastUsedAt",
            ${Prisma.raw(milliseconds('expires_at'))} AS "expiresAt"
          FROM memory_token(${hash}, ${at}::timestamptz)) t`);
      if (found !== undefined) readMoments(found, ['lastUsedAt', 'expiresAt']);
      return found;
    },
    listTenants: async () =>
      (await askMaintenance<string[]>(Prisma.sql`SELECT json_agg(t)::text FROM memory_tenants() t`)) ?? [],
    listMasterKeys: async () =>
      (await askMaintenance<{ masterKeyId: string; dataKeys: number }[]>(
        Prisma.sql`SELECT json_agg(json_build_object('masterKeyId', master_key_id, 'dataKeys', data_keys))::text
          FROM memory_master_keys()`,
      )) ?? [],
    queueQuery: (text, values) => asMaintenance(engine, options, (client) => client.query(text, values)),
    asOwner: (work) =>
      withClient(engine.ownerPool, (client) => engine.withoutStatementTimeout(() => work(client))).catch(rethrow),
    ping: async () => {
      await engine.pool.query('SELECT 1').catch(rethrow);
    },
    close: async () => {
      await events.close();
      await prisma.$disconnect();
      await engine.close();
    },
    hasTenant: async (tenantId) =>
      (await askMaintenance<boolean>(Prisma.sql`SELECT to_json(memory_tenant_exists(${tenantId}))::text`)) === true,
    forTenant: (tenantId, reach = {}) =>
      bindTenant({ roundTrips, prisma, events, turns, options, database }, tenantId, reach),
  };
  return database;
}

interface Parts {
  roundTrips: RoundTrips;
  prisma: PrismaClient;
  events: EventHub;
  turns: Turns;
  options: DatabaseOptions;
  database: Database;
}

/** Every transaction begins with the statement that sets tenant, butler and role. */
function bindTenant(parts: Parts, tenantId: string, { butler, readOnly = false }: Reach): TenantDatabase {
  const { roundTrips, prisma, events, turns, options, database } = parts;
  const enter = (settings?: Readonly<Record<string, string>>): Prisma.Sql =>
    enterTenant(
      { tenantId, butler: butler ?? null, statementTimeoutMs: options.statementTimeoutMs },
      { ...(readOnly && { transaction_read_only: 'on' }), ...settings },
    );
  let client: TenantClient | undefined;
  return {
    tenantId,
    database,
    get client() {
      return (client ??= createTenantClient(prisma, tenantId, enter()));
    },
    transaction: async (work) => {
      let opened: Transaction | undefined;
      return prisma
        .$transaction(async (transaction) => {
          opened = Object.create(transaction, { tenantId: { value: tenantId } }) as Transaction;
          await transaction.$executeRaw(enter());
          return work(opened);
        })
        .catch(rethrow)
        .finally(() => {
          // Also after a failure: its end may let others' events out, and a commit whose answer was lost has happened.
          if (opened !== undefined && hasEvents(opened)) events.raise(tenantId);
        });
    },
    inTurn: (key, work) => turns.take(JSON.stringify([tenantId, key]), work),
    roundTrip: async (statements, settings) => {
      const [, ...answers] = await roundTrips.send([enter(settings), ...statements]).catch(rethrow);
      return answers;
    },
  };
}

/**
 * The head of every transaction, in one round trip: role, tenant, butler, time zone and time limit, all gone at its end.
 * No butler means the whole tenant.
 * Prisma's adapter writes timestamps wrongly when the session is not in UTC. The role owns nothing, so row-level
 * security binds it: a statement that forgets its tenant finds no rows.
 */
function enterTenant(
  { tenantId, butler, statementTimeoutMs }: { tenantId: string; butler: string | null; statementTimeoutMs: number },
  settings: Readonly<Record<string, string>> = {},
): Prisma.Sql {
  const others = Object.entries(settings).map(([name, value]) => Prisma.sql`set_config(${name}, ${value}, true), `);
  return Prisma.sql`
    SELECT ${others.length === 0 ? Prisma.empty : Prisma.join(others, '')}
      set_config('TimeZone', 'UTC', true), set_config('statement_timeout', ${String(statementTimeoutMs)}, true),
      set_config('app.tenant', ${tenantId}, true), set_config('app.butler', ${butler ?? ''}, true),
      set_config('role', 'butler_memory_app', true)`;
}

function createTenantClient(prisma: PrismaClient, tenantId: string, head: Prisma.Sql): TenantClient {
  const client = prisma.$extends({
    name: 'tenant',
    client: { tenantId },
    query: {
      $allOperations: async ({ args, query }) => {
        const [, result] = await prisma.$transaction([prisma.$executeRaw(head), query(args)]).catch(rethrow);
        return result as unknown;
      },
    },
  });
  return client as unknown as TenantClient;
}

function enterMaintenance({ statementTimeoutMs }: DatabaseOptions): Prisma.Sql {
  return Prisma.sql`
    SELECT set_config('TimeZone', 'UTC', true), set_config('statement_timeout', ${String(statementTimeoutMs)}, true),
      set_config('role', 'butler_memory_maintenance', true)`;
}

/** For the queue, whose statements are its own and whose rows are of any shape. */
async function asMaintenance<T>(
  engine: Engine,
  options: DatabaseOptions,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withClient(engine.pool, async (client) => {
    await client.query('BEGIN');
    try {
      const { text, values } = enterMaintenance(options);
      await client.query(text, values);
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  }).catch(rethrow);
}

/** A client that failed is not given back to the pool: its session may be in any state. */
async function withClient<T>(pool: Engine['pool'], work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks also rejects the query under way; with no listener it would end the process as well.
  client.on('error', ignore);
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  } finally {
    client.off('error', ignore);
  }
}

function ignore(): void {
  // See where it is attached.
}

function rethrow(error: unknown): never {
  throw toMemoryError(error);
}
