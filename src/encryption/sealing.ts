import type { TenantClient } from '../db/database.ts';
import type { Opened } from '../db/stored-fact.ts';
import { openValues, sealValues, type DataKey, type SealedValues } from './data-key.ts';
import { MemoryError } from '../shared/errors.ts';
import { getDataKey, type KeyContext, type SealingContext } from './data-keys.ts';
import type { Snapshot } from '../db/queries/snapshots.ts';

/** What stands where the content of a sealed fact was. No word that a search could find. */
export const sealedPlaceholder = '***';

/** The columns of a fact that is sealed. */
export interface SealedColumns {
  content: string;
  tags: never[];
  metadata: Record<string, never>;
  sealedContent: Uint8Array<ArrayBuffer>;
  dataKeyId: string;
}

export function sealedColumns(key: DataKey, factId: string, values: SealedValues): SealedColumns {
  const sealedContent = sealValues(key, factId, values);
  return { content: sealedPlaceholder, tags: [], metadata: {}, sealedContent, dataKeyId: key.id };
}

/** A row of any sort; only a fact can be sealed. Bytes are as Prisma reads them, or in hexadecimal as JSON has them. */
interface PerhapsSealed {
  id: string;
  sealedContent?: Uint8Array | string | null;
  dataKeyId?: string | null;
}

/** Whether what it says is kept encrypted, also when it was opened. */
export function isSealedRow(row: object): boolean {
  return 'dataKeyId' in row && row.dataKeyId !== null && row.dataKeyId !== undefined;
}

const opened = new WeakMap<object, Promise<object>>();

/** The row with what its writer gave: content, tags and metadata. One that is open, or never was sealed, as it is. */
export async function openRow<Row extends { id: string }>(
  context: KeyContext,
  row: Row,
  client?: TenantClient,
): Promise<Opened<Row>> {
  const { sealedContent, dataKeyId } = row as PerhapsSealed;
  if (sealedContent == null || dataKeyId == null) return asOpened(row);
  const known = opened.get(row) as Promise<Opened<Row>> | undefined;
  if (known !== undefined) return known;
  const opening = open(context, { id: row.id, sealedContent, dataKeyId }, client).then((values) => {
    return asOpened({ ...row, ...values, sealedContent: null });
  });
  opened.set(row, opening);
  return opening;
}

/** Only of a row that says in its columns what its writer gave. */
function asOpened<Row extends object>(row: Row): Opened<Row> {
  return row as Opened<Row>;
}

export async function openRows<Row extends { id: string }>(
  context: KeyContext,
  rows: readonly Row[],
  client?: TenantClient,
): Promise<Opened<Row>[]> {
  const all: Opened<Row>[] = [];
  for (const row of rows) all.push(await openRow(context, row, client));
  return all;
}

/** For what looks through many: one that cannot be read must not keep the others back. It is logged, and left out. */
export async function openReadable<Row extends { id: string }>(
  context: SealingContext,
  rows: readonly Row[],
  client?: TenantClient,
): Promise<Opened<Row>[]> {
  const readable: Opened<Row>[] = [];
  for (const row of rows) {
    try {
      readable.push(await openRow(context, row, client));
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'UNREADABLE') throw error;
      context.logger.error({ factId: row.id }, error.message);
    }
  }
  return readable;
}

/** A row as an event keeps it, in plain, and without what it is sealed with: so two of them can be compared. */
export async function openSnapshot(context: KeyContext, snapshot: Snapshot, client?: TenantClient): Promise<Snapshot> {
  const { sealed_content: sealedContent, data_key_id: dataKeyId, ...plain } = snapshot;
  if (typeof sealedContent !== 'string' || typeof dataKeyId !== 'string') return plain;
  const values = await open(context, { id: snapshot['id'] as string, sealedContent, dataKeyId }, client);
  return { ...plain, ...(values as unknown as Snapshot) };
}

/** The same as a row is made of it: that it is sealed is still to be seen. */
export async function openState(context: KeyContext, snapshot: Snapshot): Promise<Snapshot> {
  if (typeof snapshot['data_key_id'] !== 'string') return snapshot;
  const { data_key_id } = snapshot;
  return { ...(await openSnapshot(context, snapshot)), data_key_id, sealed_content: null };
}

interface Sealed {
  id: string;
  sealedContent: Uint8Array | string;
  dataKeyId: string;
}

async function open(
  context: KeyContext,
  { id, sealedContent, dataKeyId }: Sealed,
  client?: TenantClient,
): Promise<SealedValues> {
  const key = await getDataKey(context, dataKeyId, client).catch((error: unknown) => {
    throw error instanceof MemoryError && error.code === 'UNREADABLE' ? unreadable(id, error.message) : error;
  });
  const values = openValues(key, id, readBytes(sealedContent));
  if (values === null) throw unreadable(id, `what is stored is not what was sealed for it under data key ${key.id}`);
  return values;
}

function readBytes(sealed: Uint8Array | string): Uint8Array {
  return typeof sealed === 'string' ? Buffer.from(sealed.replace(/^\\x/, ''), 'hex') : sealed;
}

function unreadable(id: string, why: string): MemoryError {
  return new MemoryError('UNREADABLE', `fact ${id} cannot be read: ${why}`, {
    hint: 'Its subject and predicate can. docs/operations.md tells what to do about keys.',
  });
}
