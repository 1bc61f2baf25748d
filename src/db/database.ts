import { PrismaPg } from '@prisma/adapter-pg';
import type { PoolClient } from 'pg';
import { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Engine, EngineName } from './engines/engine.ts';
import { toMemoryError } from './database-errors.ts';
import { EventHub, hasEvents, type EventSignal } from './events/event-signal.ts';
import { openEngine } from './engines/open-engine.ts';
import { RoundTrips } from './round-trip.ts';
import type { WithStoredFacts } from './stored-fact.ts';

/** A Prisma client inside one transaction that is bound to one tenant. */
export type Transaction = WithStoredFacts<Prisma.TransactionClient>;

/** A Prisma client each of whose operations is a transaction of its own, bound to one tenant. */
export type TenantClient = WithStoredFacts<ReturnType<typeof bindToTenant>>;

export interface Database {
  readonly engine: EngineName;
  /** Where the data is, for people; no password in it. */
  readonly location: string;
  /** Whether it was created when it was opened. */
  readonly isNew: boolean;
  /** All that `work` does commits together or not at all. It sees and writes the rows of this tenant only. */
  transaction<T>(tenantId: string, work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** For single reads that need no common snapshot, such as those of GraphQL resolvers. */
  tenant(tenantId: string): TenantClient;
  /**
   * For what has to be quick: one transaction in one round trip, within the same boundary. Gives one value of each
   * statement, the first column of its first row, as text: JSON, if it is to say more. `settings` hold for the
   * statements and for no others.
   */
  roundTrip(
    tenantId: string,
    statements: readonly Prisma.Sql[],
    settings?: Readonly<Record<string, string>>,
  ): Promise<(string | null)[]>;
  /** The same, for one butler alone: of its tenant it sees and writes what is global and what is its own. */
  confinedTo(butler: string): Database;
  /** The same, in which nothing can be written but by a round trip that sets `transaction_read_only` to off. */
  readingOnly(): Database;
  /** Whether there is such a tenant. */
  hasTenant(tenantId: string): Promise<boolean>;
  /** Whose a token with this hash is, if it is valid at that moment. */
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

export interface DatabaseOptions {
  home: string;
  name: string;
  url: string | undefined;
  migrationUrl: string | undefined;
  poolSize: number;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  transactionTimeoutMs: number;
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
  const roundTrips = new RoundTrips((work) => withClient(engine.pool, work));
  const database: Omit<Database, keyof TenantDoors> = {
    engine: engine.name,
    location: engine.location,
    isNew: engine.isNew,
    events,
    findToken: async (hash, at) => {
      const { rows } = await asMaintenance(engine, options, (client) =>
        client.query<FoundToken>(findToken, [hash, at]),
      );
      return rows[0];
    },
    listTenants: async () => {
      const { rows } = await asMaintenance(engine, options, (client) =>
        client.query<{ tenant: string }>('SELECT memory_tenants() AS tenant'),
      );
      return rows.map(({ tenant }) => tenant);
    },
    listMasterKeys: async () => {
      const { rows } = await asMaintenance(engine, options, (client) =>
        client.query<{ masterKeyId: string; dataKeys: number }>(masterKeys),
      );
      return rows;
    },
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
    hasTenant: async (tenantId) => {
      const { rows } = await asMaintenance(engine, options, (client) =>
        client.query<{ exists: boolean }>('SELECT memory_tenant_exists($1) AS exists', [tenantId]),
      );
      return rows[0]?.exists === true;
    },
    confinedTo: (butler) => open({ butler }),
    readingOnly: () => open({ settings: { transaction_read_only: 'on' } }),
  };
  const open = (reach: Reach): Database => ({
    ...database,
    ...tenantDoors({ roundTrips, prisma, events, options }, reach),
  });
  return open({});
}

const findToken = `
  SELECT tenant_id AS "tenantId", id::text, butler, role, last_used_at AS "lastUsedAt", expires_at AS "expiresAt",
    across, across_write AS "acrossWrite"
  FROM memory_token($1, $2)`;

const masterKeys = 'SELECT master_key_id AS "masterKeyId", data_keys AS "dataKeys" FROM memory_master_keys()';

interface Parts {
  roundTrips: RoundTrips;
  prisma: PrismaClient;
  events: EventHub;
  options: DatabaseOptions;
}

type TenantDoors = Pick<Database, 'transaction' | 'roundTrip' | 'tenant'>;

interface Reach {
  /** The one to whom it is confined, if it is to any. */
  butler?: string;
  /** That hold unless a round trip says otherwise. */
  settings?: Readonly<Record<string, string>>;
}

/** The ways into a tenant. Each begins by saying which one, and how much of it may be seen. */
function tenantDoors({ roundTrips, prisma, events, options }: Parts, reach: Reach): TenantDoors {
  const { butler = null, settings: usual } = reach;
  const enter = (tenantId: string, settings?: Readonly<Record<string, string>>): Prisma.Sql =>
    enterTenant({ tenantId, butler, statementTimeoutMs: options.statementTimeoutMs }, { ...usual, ...settings });
  return {
    transaction: async (tenantId, work) => {
      let opened: Transaction | undefined;
      return prisma
        .$transaction(async (transaction) => {
          opened = transaction as unknown as Transaction;
          await transaction.$executeRaw(enter(tenantId));
          return work(opened);
        })
        .catch(rethrow)
        .finally(() => {
          // Also after a failure: its end may let others' events out, and a commit whose answer was lost has happened.
          if (opened !== undefined && hasEvents(opened)) events.raise(tenantId);
        });
    },
    roundTrip: async (tenantId, statements, settings = {}) => {
      const [, ...answers] = await roundTrips.send([enter(tenantId, settings), ...statements]).catch(rethrow);
      return answers;
    },
    tenant: (tenantId) => bindToTenant(prisma, enter(tenantId)) as unknown as TenantClient,
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

// oxlint-disable-next-line typescript/explicit-function-return-type -- the type is what Prisma infers
function bindToTenant(prisma: PrismaClient, head: Prisma.Sql) {
  return prisma.$extends({
    name: 'tenant',
    query: {
      $allOperations: async ({ args, query }) => {
        const [, result] = await prisma.$transaction([prisma.$executeRaw(head), query(args)]).catch(rethrow);
        return result as unknown;
      },
    },
  });
}

async function asMaintenance<T>(
  engine: Engine,
  options: DatabaseOptions,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withClient(engine.pool, async (client) => {
    await client.query('BEGIN');
    try {
      await client.query(
        `SELECT set_config('TimeZone', 'UTC', true), set_config('statement_timeout', $1, true),
           set_config('role', 'butler_memory_maintenance', true)`,
        [String(options.statementTimeoutMs)],
      );
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
