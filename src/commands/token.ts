import { everyTenant } from '../auth/grant.ts';
import {
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
  type IssuedToken,
  type TokenRecord,
} from '../auth/tokens.ts';
import type { MemoryCore } from '../create-memory.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import { invalidInput } from '../shared/errors.ts';
import { createTenantContext, type MemoryContext } from '../memory/context.ts';
import { actor, printLine, type Print } from './run.ts';

export interface TokenOptions {
  role: string;
  tenant: string;
  butler?: string;
  name: string;
  expires?: string;
  /** Names with commas between them, or `all`. */
  across?: string;
  acrossWrite?: boolean;
}

export async function issueToken(core: MemoryCore, options: TokenOptions, print: Print = printLine): Promise<void> {
  const expiresAt = options.expires === undefined ? null : readMoment(options.expires, core.now());
  const { role, butler, name, acrossWrite } = options;
  const across = options.across === 'all' ? [everyTenant] : options.across?.split(',');
  const given = { role, butler, name, expiresAt, across, acrossWrite };
  printToken(await createToken(createContext(core, options.tenant), given), print);
}

export async function replaceToken(core: MemoryCore, tenant: string, id: string): Promise<void> {
  printToken(await rotateToken(createContext(core, tenant), id), printLine);
}

export async function endToken(core: MemoryCore, tenant: string, id: string): Promise<void> {
  printLine(describe(await revokeToken(createContext(core, tenant), id)));
}

export async function printTokens(core: MemoryCore, tenant: string | undefined): Promise<void> {
  const tenants = tenant === undefined ? await core.db.listTenants() : [tenant];
  for (const tenantId of tenants) {
    for (const record of await listTokens(createContext(core, tenantId))) printLine(describe(record));
  }
}

function createContext(core: MemoryCore, tenantId: string): MemoryContext {
  if (tenantId.trim() === '') throw invalidInput('tenant', 'a name', tenantId);
  return { ...createTenantContext(core, tenantId), actor };
}

/** Prints the token alone on its line, so that a program can read it. */
function printToken({ token, record }: IssuedToken, print: Print): void {
  print(token);
  print(describe(record));
}

function describe(token: TokenRecord): string {
  const { tenantId, id, name, role, butler, expiresAt, revokedAt, lastUsedAt } = token;
  const about = [
    `tenant ${tenantId}`,
    role + (butler === null ? '' : ` ${butler}`),
    describeGrant(token),
    revokedAt === null ? expiresAt && `until ${expiresAt.toISOString()}` : `revoked ${revokedAt.toISOString()}`,
    lastUsedAt && `last used ${lastUsedAt.toISOString()}`,
  ];
  return `${id}  ${name}: ${about.filter(Boolean).join(', ')}`;
}

function describeGrant({ across, acrossWrite }: TokenRecord): string | null {
  if (across.length === 0) return null;
  const tenants = across.includes(everyTenant) ? 'all tenants' : across.join(' and ');
  return `${acrossWrite ? 'reads and writes' : 'reads'} in ${tenants}`;
}

const units: Record<string, number> = { h: millisecondsPerDay / 24, d: millisecondsPerDay };

function readMoment(text: string, now: Date): Date {
  const [, amount, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const moment =
    amount === undefined ? new Date(text) : new Date(now.getTime() + Number(amount) * (units[unit ?? ''] ?? 0));
  if (Number.isNaN(moment.getTime()))
    throw invalidInput('expires', 'a date, or a time from now such as 30d or 12h', text);
  return moment;
}
