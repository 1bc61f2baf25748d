import { Prisma } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../shared/names.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';
import type { TenantDatabase } from '../database.ts';
import { milliseconds, readMoments } from '../sql/moments.ts';

/** Every column but vectors and lexemes, by the names that rows have in here. */
const columns: Record<MemoryType, readonly string[]> = {
  episode: Object.values(Prisma.EpisodeScalarFieldEnum),
  fact: Object.values(Prisma.FactScalarFieldEnum),
  rule: Object.values(Prisma.RuleScalarFieldEnum),
};

function isMoment(name: string): boolean {
  return /At$|^valid(From|To)$/.test(name);
}

const moments = Object.fromEntries(memoryTypes.map((type) => [type, columns[type].filter(isMoment)])) as Record<
  MemoryType,
  string[]
>;

export interface MemoryRowFound {
  type: MemoryType;
  row: { id: string };
}

/** Lists memories by id, whatever their state: one round trip for all lists, one statement each. */
export async function listMemoryRows(
  db: TenantDatabase,
  lists: readonly (readonly { type: MemoryType; id: string }[])[],
): Promise<MemoryRowFound[][]> {
  const asked = lists.filter((references) => references.length > 0);
  if (asked.length === 0) return lists.map(() => []);
  const answers = await db.roundTrip(asked.map((references) => selectMemoryRows(db.tenantId, references)));
  return lists.map((references) => readMemoryRows(answers[asked.indexOf(references)]));
}

/** Selects a JSON array of type and row. */
function selectMemoryRows(tenantId: string, references: readonly { type: MemoryType; id: string }[]): Prisma.Sql {
  const types = memoryTypes.filter((type) => references.some((reference) => reference.type === type));
  const parts = types.map((type) => {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id);
    return Prisma.sql`
      SELECT ${type}::text AS type, row_to_json(r) AS row FROM (
        SELECT ${columnsOf(type)} FROM ${Prisma.raw(memoryTables[type])} m
        WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[])
      ) r`;
  });
  return Prisma.sql`SELECT json_agg(memory)::text FROM (${Prisma.join(parts, ' UNION ALL ')}) memory`;
}

/** Moments in milliseconds since 1970, as which they are read exactly, whatever their year. */
function columnsOf(type: MemoryType): Prisma.Sql {
  const listed = columns[type].map((name) => {
    const column = `m.${toSnakeCase(name)}`;
    return `${isMoment(name) ? milliseconds(column) : column} AS "${name}"`;
  });
  return Prisma.raw(listed.join(', '));
}

/** Returns what the statement answered, with the values that rows have in here. */
function readMemoryRows(answer: string | null | undefined): MemoryRowFound[] {
  const found = JSON.parse(answer ?? '[]') as { type: MemoryType; row: Record<string, unknown> }[];
  for (const { type, row } of found) readMoments(row, moments[type]);
  return found as unknown as MemoryRowFound[];
}
