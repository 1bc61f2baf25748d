import { Prisma } from '../../generated/prisma/client.ts';
import { memoryTables, type MemoryType } from '../tables.ts';

/** Writes columns as an event kept them: the database turns its own JSON back into its own types. */
export function writeSnapshotColumns(
  type: MemoryType,
  { tenantId, id }: { tenantId: string; id: string },
  values: Prisma.JsonObject,
): Prisma.Sql {
  const table = memoryTables[type];
  const columns = Object.keys(values).map((name) => Prisma.raw(`"${columnName(name)}" = kept."${columnName(name)}"`));
  return Prisma.sql`
    UPDATE ${Prisma.raw(table)} AS m SET ${Prisma.join(columns)}
    FROM jsonb_populate_record(NULL::${Prisma.raw(table)}, ${JSON.stringify(values)}::jsonb) AS kept
    WHERE m.tenant_id = ${tenantId} AND m.id = ${id}::uuid`;
}

function columnName(name: string): string {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`not the name of a column: ${name}`);
  return name;
}
