import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { invalidInput, MemoryError } from '../shared/errors.ts';
import type { ApiToken, Prisma } from '../generated/prisma/client.ts';
import { nameActor, roles, type MemoryContext, type Role } from '../memory/context.ts';
import { mutate, type Mutation } from '../memory/mutation.ts';
import { normaliseKey } from '../memory/text.ts';
import { createRedactor, type Redactor } from '../redaction/redactor.ts';
import { checkUuid } from '../memory/values.ts';

/** The record of a token, without the token. */
export type TokenRecord = Omit<ApiToken, 'tokenHash'>;

export interface NewToken {
  name: string;
  role: string;
  /** The butler that it speaks for; a token of the role butler must have one. */
  butler?: string | null | undefined;
  expiresAt?: Date | null | undefined;
  /** Other tenants that it may enter, for the role admin: their names, or `everyTenant`. */
  across?: readonly string[] | undefined;
  /** Whether it may also write there. */
  acrossWrite?: boolean | undefined;
}

/** A new token. It is shown this once: only its hash is stored. */
export interface IssuedToken {
  token: string;
  record: TokenRecord;
}

/** Lets a token be known for one wherever it turns up: in a log, in a commit. */
export const tokenPrefix = 'bmt_';

/** A token is as random as its hash is long, so the hash needs no salt and no slowness. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export async function createToken(context: MemoryContext, given: NewToken): Promise<IssuedToken> {
  const values = normaliseToken(context, given);
  return (await mutate(context, (mutation) => issue(mutation, values, 'token.created'))).value;
}

export async function listTokens({ db, principal: { tenantId } }: MemoryContext): Promise<TokenRecord[]> {
  const order = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
  return db.client.apiToken.findMany({ where: { tenantId }, orderBy: order, omit: { tokenHash: true } });
}

/** It is refused from the next request on. To revoke one twice does no harm. */
export async function revokeToken(context: MemoryContext, id: string): Promise<TokenRecord> {
  return (await mutate(context, async (mutation) => revoke(mutation, await findToken(mutation, id)))).value;
}

/** A new token with the same rights in the place of an old one, which is refused from the next request on. */
export async function rotateToken(context: MemoryContext, id: string): Promise<IssuedToken> {
  const { value } = await mutate(context, async (mutation) => {
    const old = await findToken(mutation, id);
    if (old.revokedAt !== null) throw new MemoryError('INVALID_TRANSITION', `token ${old.id} is revoked already`);
    await revoke(mutation.consequence, old);
    const { name, role, butler, expiresAt, across, acrossWrite } = old;
    const values = { name, role: role as Role, butler, expiresAt, across, acrossWrite };
    return issue(mutation, values, 'token.rotated');
  });
  return value;
}

type TokenValues = Pick<TokenRecord, 'name' | 'butler' | 'expiresAt' | 'across' | 'acrossWrite'> & { role: Role };

function normaliseToken(context: MemoryContext, given: NewToken): TokenValues {
  const redactor = createRedactor(context);
  const role = roles.find((candidate) => candidate === given.role);
  if (role === undefined) throw invalidInput('role', `one of ${roles.join(', ')}`, given.role);
  const butler = given.butler ? normaliseKey(redactor, 'butler', given.butler) : null;
  if (role === 'butler' && butler === null) throw invalidInput('butler', 'a name, as the role is butler', butler);
  const expiresAt = given.expiresAt ?? null;
  if (expiresAt !== null && !(expiresAt > context.now())) throw invalidInput('expires', 'a moment to come', expiresAt);
  return {
    name: normaliseKey(redactor, 'name', given.name),
    role,
    butler,
    expiresAt,
    ...normaliseGrant(redactor, role, given),
  };
}

function normaliseGrant(redactor: Redactor, role: Role, given: NewToken): Pick<TokenRecord, 'across' | 'acrossWrite'> {
  const across = [...new Set(given.across?.map((tenant) => normaliseKey(redactor, 'across', tenant)))];
  const acrossWrite = given.acrossWrite ?? false;
  if (across.length > 0 && role !== 'admin') throw invalidInput('across', 'none, as the role is not admin', across);
  if (acrossWrite && across.length === 0)
    throw invalidInput('across-write', 'given with the tenants to write in', acrossWrite);
  return { across, acrossWrite };
}

async function issue(
  mutation: Mutation,
  values: TokenValues,
  eventType: 'token.created' | 'token.rotated',
): Promise<IssuedToken> {
  const { context, transaction, tenantId, now } = mutation;
  const token = `${tokenPrefix}${randomBytes(32).toString('base64url')}`;
  const record: TokenRecord = {
    ...values,
    tenantId,
    id: uuidv7(),
    createdAt: now,
    createdBy: nameActor(context),
    revokedAt: null,
    lastUsedAt: null,
  };
  await transaction.apiToken.create({ data: { ...record, tokenHash: hashToken(token) } });
  await mutation.record({ eventType, entityType: 'token', entityId: record.id, after: asPayload(record) });
  return { token, record };
}

async function findToken({ transaction, tenantId }: Mutation, id: string): Promise<TokenRecord> {
  const where = { tenantId_id: { tenantId, id: checkUuid('id', id) } };
  const record = await transaction.apiToken.findUnique({ where, omit: { tokenHash: true } });
  if (record === null) throw new MemoryError('NOT_FOUND', `token ${id} is not there`);
  return record;
}

async function revoke(mutation: Mutation, token: TokenRecord): Promise<TokenRecord> {
  const { transaction, tenantId, now } = mutation;
  // Of two who revoke at once, one does.
  const { count } = await transaction.apiToken.updateMany({
    where: { tenantId, id: token.id, revokedAt: null },
    data: { revokedAt: now },
  });
  if (count === 0) return token;
  const revoked = { ...token, revokedAt: now };
  await mutation.record({
    eventType: 'token.revoked',
    entityType: 'token',
    entityId: token.id,
    before: asPayload(token),
    after: asPayload(revoked),
  });
  return revoked;
}

/** Without the hash, and without what changes at every use. */
function asPayload(token: TokenRecord): Prisma.InputJsonObject {
  const { name, role, butler, expiresAt, revokedAt, across, acrossWrite } = token;
  const at = (moment: Date | null): string | null => moment?.toISOString() ?? null;
  const grant = { across, across_write: acrossWrite };
  return { name, role, butler, expires_at: at(expiresAt), revoked_at: at(revokedAt), ...grant };
}
