import { databaseOptions } from '../begin-memory.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { openDatabase, type Database } from '../db/database.ts';
import { invalidInput } from '../shared/errors.ts';
import { findChainHead, findChainProblems, readHead, writeHead } from '../memory/history/audit-chain.ts';
import type { MemoryContext } from '../memory/context.ts';
import { createVault, requireMasterKeys, type Vault } from '../encryption/vault.ts';
import { findDifferences } from '../memory/history/verify.ts';
import { createLogger } from '../shared/logger.ts';
import { chooseTenants, printLine, type Print } from './run.ts';

export interface VerifyOptions {
  at?: string;
  chain?: boolean;
  head?: boolean;
  since?: string;
  tenant?: string;
}

interface ToVerify {
  db: Database;
  /** Opened only where facts are read: a chain can be checked without a key. */
  vault: () => Vault;
}

export async function verify({ config }: LoadedConfig, options: VerifyOptions): Promise<void> {
  const db = await openDatabase(databaseOptions(config));
  try {
    const vault = (): Vault => createVault(config, createLogger(config, 'stderr'));
    if (!(await verifyTenants({ db, vault }, options, printLine))) process.exitCode = 1;
  } finally {
    await db.close();
  }
}

/** Prints what differs. Returns whether nothing does. */
export async function verifyTenants(subject: ToVerify, options: VerifyOptions, print: Print): Promise<boolean> {
  const { db } = subject;
  refuseMixture(options);
  const tenants = await chooseTenants(db, options.tenant);
  if (options.head === true) return printHeads(db, tenants, print);
  const isChain = options.chain === true || options.since !== undefined;
  const count = isChain
    ? await printProblems(db, tenants, options, print)
    : await printDifferences(subject, tenants, options, print);
  print(count === 0 ? 'no difference' : `${count} differences in ${tenants.length} tenants`);
  return count === 0;
}

/** Refuses options of which one would be ignored. */
function refuseMixture({ at, chain, head, since }: VerifyOptions): void {
  const given = Object.entries({ chain, head, since }).filter(([, value]) => value !== undefined);
  if (at !== undefined && given.length > 0) {
    throw invalidInput('at', 'given without --chain, --head and --since: a chain is checked whole', at);
  }
  if (head === true && (chain === true || since !== undefined)) {
    throw invalidInput('head', 'given alone: it prints and checks nothing', 'head with chain or since');
  }
}

/** Vectors and references aside. */
async function printDifferences(
  { db, vault: openVault }: ToVerify,
  tenants: readonly string[],
  { at }: VerifyOptions,
  print: Print,
): Promise<number> {
  const moment = at === undefined ? undefined : readMoment(at);
  const vault = openVault();
  await requireMasterKeys(db, vault);
  let count = 0;
  for (const tenantId of tenants) {
    for (const { type, id, columns } of await findDifferences({ ...asAdmin(db, tenantId), vault }, moment)) {
      count++;
      print(`${tenantId}: ${type} ${id}: ${columns.join(', ') || 'version'}`);
    }
  }
  return count;
}

async function printProblems(
  db: Database,
  tenants: readonly string[],
  { since }: VerifyOptions,
  print: Print,
): Promise<number> {
  const kept = since === undefined ? undefined : readHead('since', since);
  if (kept !== undefined && tenants.length !== 1) {
    throw invalidInput('tenant', 'the one whose head it is, with --since', `${tenants.length} tenants`);
  }
  let count = 0;
  for (const tenantId of tenants) {
    for await (const problem of findChainProblems(asAdmin(db, tenantId), kept)) {
      count++;
      const { kind, position, eventId, message } = problem;
      const place = [position !== null && `position ${position}`, eventId !== null && `event ${eventId}`];
      print(`${tenantId}: ${kind}: ${place.filter(Boolean).join(', ')}: ${message}`);
    }
  }
  return count;
}

/** One line a tenant, to be kept where nobody who can write the database can write. */
async function printHeads(db: Database, tenants: readonly string[], print: Print): Promise<boolean> {
  for (const tenantId of tenants) {
    const head = await findChainHead(asAdmin(db, tenantId));
    if (head !== null) print(`${tenantId} ${writeHead(head)} ${head.at?.toISOString() ?? 'unknown'}`);
  }
  return true;
}

function asAdmin(db: Database, tenantId: string): Pick<MemoryContext, 'db' | 'principal'> {
  return { db: db.forTenant(tenantId), principal: { tenantId, butler: null, role: 'admin' } };
}

function readMoment(text: string): Date {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw invalidInput('at', 'a moment such as 2026-11-16T12:00:00Z', text);
  return moment;
}
