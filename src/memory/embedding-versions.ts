import { v7 as uuidv7 } from 'uuid';
import type { Database, Transaction } from '../db/database.ts';
import {
  embeddingSlots,
  listSlotDimensions,
  lockEmbeddingVersions,
  type EmbeddingSlot,
  type EmbeddingVersionRow,
} from '../db/queries/embeddings.ts';
import { modelKey, type EmbeddingModel } from '../embedding/embedder.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { atOneMoment, type MemoryContext } from './context.ts';
import { textForm } from './facts/lexicon.ts';
import { recordEvent, recordEvents, type EventInput } from './events.ts';

/** One that is building or active. */
export type VersionInUse = EmbeddingVersionRow;

type Place = Pick<MemoryContext, 'db' | 'principal' | 'caches'>;

export async function expectVersions(context: Place): Promise<readonly VersionInUse[]> {
  const { tenantId } = context.principal;
  return (
    context.caches.embeddingVersions.get(tenantId) ??
    context.db.transaction((transaction) => lockVersions(context, transaction))
  );
}

/** The versions in use, which nobody changes before this transaction ends. */
export async function lockVersions(
  context: Place,
  transaction: Transaction,
  lock: 'shared' | 'alone' = 'shared',
): Promise<readonly VersionInUse[]> {
  const { tenantId } = context.principal;
  const versions = await lockEmbeddingVersions(transaction, lock);
  context.caches.embeddingVersions.set(tenantId, versions);
  return versions;
}

export function findVersionOf(versions: readonly VersionInUse[], model: EmbeddingModel): VersionInUse | undefined {
  return versions.find((version) => isCurrent(version, model));
}

/** Whether a version has the vectors that this process would make: of the same model, from texts of the same form. */
export function isCurrent(version: EmbeddingModel & { textForm: string }, model: EmbeddingModel): boolean {
  return isSameModel(version, model) && version.textForm === textForm;
}

export function findActive(versions: readonly VersionInUse[]): VersionInUse | undefined {
  return versions.find(({ status }) => status === 'active');
}

/**
 * Registers the configured model. The first model of a tenant is active at once; another one fills the free slot and
 * waits there until all rows have its vectors.
 */
export async function registerVersion(
  caller: MemoryContext,
  transaction: Transaction,
  versions: readonly VersionInUse[],
): Promise<VersionInUse> {
  const context = atOneMoment(caller);
  const { model } = context.embedder;
  const slot = await chooseSlot(transaction, versions, model);
  const isFirst = versions.length === 0;
  const createdAt = context.now();
  const { tenantId } = context.principal;
  const version = {
    ...pickIdentity(model),
    textForm,
    id: uuidv7(),
    slot,
    status: isFirst ? ('active' as const) : ('building' as const),
    createdAt,
    activatedAt: isFirst ? createdAt : null,
  };
  // Two first writers may meet here: the loser's row is not written, and it uses the winner's.
  const created = await transaction.embeddingVersion.createMany({
    data: [{ ...version, tenantId }],
    skipDuplicates: true,
  });
  const stored = await lockVersions(context, transaction);
  const registered = findVersionOf(stored, model);
  if (registered === undefined) throw noFreeSlot(stored, model);
  if (created.count > 0) await recordEvent(context, transaction, describeChange('registered', null, registered));
  return registered;
}

async function chooseSlot(
  transaction: Transaction,
  versions: readonly VersionInUse[],
  model: EmbeddingModel,
): Promise<EmbeddingSlot> {
  const free = embeddingSlots.filter((slot) => versions.every((version) => version.slot !== slot));
  if (free.length === 0) throw noFreeSlot(versions, model);
  const columns = await listSlotDimensions(transaction);
  const fits = (slot: EmbeddingSlot): boolean =>
    columns.some((column) => column.slot === slot && column.dimensions === model.dimensions);
  const slot = free.find(fits);
  if (slot === undefined) throw noSlotOfSize(columns, model);
  return slot;
}

/** Both in one transaction in which the versions are locked alone: each search is served by the one or the other. */
export async function activateVersion(
  caller: MemoryContext,
  transaction: Transaction,
  { building, active }: { building: VersionInUse; active: VersionInUse | undefined },
): Promise<void> {
  const context = atOneMoment(caller);
  if (active !== undefined) await retireVersion(context, transaction, active);
  const activated = { ...building, status: 'active' as const, activatedAt: context.now() };
  await writeStatus(context, transaction, activated);
  await recordEvents(context, transaction, [describeChange('activated', building, activated)]);
}

/** Its vectors are compared with nothing any more, and cleared by and by. */
export async function retireVersion(
  caller: MemoryContext,
  transaction: Transaction,
  version: VersionInUse,
): Promise<void> {
  const context = atOneMoment(caller);
  const retired = { ...version, status: 'retired' as const, retiredAt: context.now() };
  await writeStatus(context, transaction, retired);
  await recordEvents(context, transaction, [describeChange('retired', version, retired)]);
}

async function writeStatus(
  { principal: { tenantId } }: MemoryContext,
  transaction: Transaction,
  { id, status, activatedAt, retiredAt }: VersionInUse,
): Promise<void> {
  await transaction.embeddingVersion.update({
    where: { tenantId_id: { tenantId, id } },
    data: { status, activatedAt, retiredAt },
    select: { id: true },
  });
}

function describeChange(
  verb: 'registered' | 'activated' | 'retired',
  before: VersionInUse | null,
  after: VersionInUse,
): EventInput {
  return {
    eventType: `embedding_version.${verb}`,
    entityType: 'embedding_version',
    entityId: after.id,
    ...(before !== null && { before: describeVersion(before) }),
    after: describeVersion(after),
  };
}

function describeVersion(version: VersionInUse): Prisma.InputJsonObject {
  return { ...pickIdentity(version), textForm: version.textForm, slot: version.slot, status: version.status };
}

export interface ModelChange {
  tenantId: string;
  stored: EmbeddingModel;
  configured: EmbeddingModel;
}

/** The tenants whose vectors another model made. Their vectors are never compared with those of the current one. */
export async function findModelChanges(database: Database, configured: EmbeddingModel): Promise<ModelChange[]> {
  const changes: ModelChange[] = [];
  for (const tenantId of await database.listTenants()) {
    const active = await database
      .forTenant(tenantId)
      .client.embeddingVersion.findFirst({ where: { status: 'active' } });
    if (active !== null && !isCurrent(active, configured)) {
      changes.push({ tenantId, stored: pickIdentity(active), configured });
    }
  }
  return changes;
}

export function describeModel({ provider, model, dtype, digest, dimensions }: EmbeddingModel): string {
  return `${provider} ${model} ${dtype} (${dimensions} dimensions, ${digest.slice(0, 12)})`;
}

export function isSameModel(stored: EmbeddingModel, current: EmbeddingModel): boolean {
  return modelKey(stored) === modelKey(current);
}

function pickIdentity({ provider, model, dtype, digest, dimensions }: EmbeddingModel): EmbeddingModel {
  return { provider, model, dtype, digest, dimensions };
}

function noFreeSlot(versions: readonly EmbeddingModel[], current: EmbeddingModel): MemoryError {
  return new MemoryError(
    'CONFLICT',
    `embedding model must be ${versions.map(describeModel).join(' or ')}, as both are in use (got ${describeModel(current)})`,
    { hint: 'Finish the re-embedding that is under way, or restart with this model and run the job reembed.' },
  );
}

function noSlotOfSize(columns: readonly { slot: string; dimensions: number }[], current: EmbeddingModel): MemoryError {
  const sizes = columns.map(({ slot, dimensions }) => `${dimensions} dimensions in slot ${slot}`).join(', ');
  return new MemoryError(
    'CONFIGURATION',
    `embedding model must be one that fits a free slot, ${sizes} (got ${describeModel(current)})`,
    { hint: 'Restart the server: it makes room at its start, if a slot is empty.' },
  );
}
