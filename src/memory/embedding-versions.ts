import { v7 as uuidv7 } from 'uuid';
import type { Database, Transaction } from '../db/database.ts';
import type { EmbeddingModel } from '../embedding/embedder.ts';
import { MemoryError } from '../errors.ts';
import type { EmbeddingVersion } from '../generated/prisma/client.ts';
import type { MemoryContext } from './context.ts';
import { recordEvent } from './events.ts';

export const embeddingSlots = ['primary', 'alternate'] as const;
export type EmbeddingSlot = (typeof embeddingSlots)[number];

export interface WritableVersion {
  id: string;
  slot: EmbeddingSlot;
}

/**
 * The version under which vectors of the current model are stored, registered at its first use. The first model of a
 * tenant is active at once; another one fills the free slot and waits there until all rows have its vectors.
 */
export async function ensureEmbeddingVersion(
  context: MemoryContext,
  transaction: Transaction,
): Promise<WritableVersion> {
  const model = context.embedder.model;
  const versions = await transaction.embeddingVersion.findMany({ where: { status: { not: 'retired' } } });
  const known = versions.find((version) => isSameModel(version, model));
  if (known !== undefined) return { id: known.id, slot: known.slot as EmbeddingSlot };
  return register(context, transaction, versions);
}

async function register(
  context: MemoryContext,
  transaction: Transaction,
  versions: EmbeddingVersion[],
): Promise<WritableVersion> {
  const slot = embeddingSlots.find((candidate) => versions.every((version) => version.slot !== candidate));
  if (slot === undefined) throw noFreeSlot(versions, context.embedder.model);
  const isFirst = versions.length === 0;
  const createdAt = context.now();
  const { tenantId } = context.principal;
  const id = uuidv7();
  // Two first writers may meet here: the loser's row is not written, and it uses the winner's.
  const created = await transaction.embeddingVersion.createManyAndReturn({
    data: [
      {
        ...identityOf(context.embedder.model),
        tenantId,
        id,
        slot,
        status: isFirst ? 'active' : 'building',
        createdAt,
        activatedAt: isFirst ? createdAt : null,
      },
    ],
    skipDuplicates: true,
  });
  const version = created[0];
  if (version === undefined) return ensureEmbeddingVersion(context, transaction);
  await recordEvent(context, transaction, {
    eventType: 'embedding_version.registered',
    entityType: 'embedding_version',
    entityId: id,
    after: { ...identityOf(context.embedder.model), slot, status: version.status },
  });
  return { id, slot };
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
    const active = await database.tenant(tenantId).embeddingVersion.findFirst({ where: { status: 'active' } });
    if (active !== null && !isSameModel(active, configured)) {
      changes.push({ tenantId, stored: identityOf(active), configured });
    }
  }
  return changes;
}

export function describeModel({ provider, model, dtype, digest, dimensions }: EmbeddingModel): string {
  return `${provider} ${model} ${dtype} (${dimensions} dimensions, ${digest.slice(0, 12)})`;
}

export function isSameModel(stored: EmbeddingModel, current: EmbeddingModel): boolean {
  return describeFully(stored) === describeFully(current);
}

function describeFully(model: EmbeddingModel): string {
  return JSON.stringify(Object.values(identityOf(model)));
}

function identityOf({ provider, model, dtype, digest, dimensions }: EmbeddingModel): EmbeddingModel {
  return { provider, model, dtype, digest, dimensions };
}

function noFreeSlot(versions: EmbeddingVersion[], current: EmbeddingModel): MemoryError {
  return new MemoryError(
    'CONFLICT',
    `embedding model: ${versions.map(describeModel).join(' or ')} allowed, as both are in use; given ${describeModel(current)}`,
    { hint: 'Finish the re-embedding that is under way before you change the model again.' },
  );
}
