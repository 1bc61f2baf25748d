import { latestApplications } from '../../db/sql/latest-applications.ts';
import { learnedFrom } from '../../db/sql/learned-from.ts';
import type { StoredFact } from '../../db/stored-fact.ts';
import type { Rule, RuleApplication } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../context.ts';
import type { MemoryReference } from './links.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memories.ts';

/** What hangs on memories without being a link, read for many at once. */

/** The facts or rules that were learned from episodes, newest first. */
export async function listLearnedFrom<T extends 'fact' | 'rule'>(
  context: MemoryContext,
  type: T,
  episodes: readonly MemoryReference[],
  limit: number,
): Promise<Map<string, (T extends 'fact' ? StoredFact : Rule)[]>> {
  const { tenantId } = context.principal;
  const query = learnedFrom({ tenantId, type, episodeIds: episodes.map(({ id }) => id), limit });
  const found = await context.db.client.$queryRaw<{ owner: string; id: string }[]>(query);
  const rows = await loadMemories(
    context,
    found.map(({ id }) => ({ type, id })),
  );
  return groupRows(found, 'episode', (id) => rows.get(referenceKey({ type, id }))) as never;
}

/** The fact that took a fact's place; the last, should there be several. */
export async function listSuccessors(
  context: MemoryContext,
  facts: readonly MemoryReference[],
): Promise<Map<string, StoredFact>> {
  const { tenantId } = context.principal;
  const successors = await context.db.client.fact.findMany({
    where: { tenantId, supersedesId: { in: facts.map(({ id }) => id) } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return new Map(successors.map((fact) => [referenceKey({ type: 'fact', id: fact.supersedesId as string }), fact]));
}

/** The judgements that count, newest first. */
export async function listApplications(
  context: MemoryContext,
  rules: readonly MemoryReference[],
  limit: number,
): Promise<Map<string, RuleApplication[]>> {
  const { tenantId } = context.principal;
  const client = context.db.client;
  const ruleIds = rules.map(({ id }) => id);
  const query = latestApplications(tenantId, ruleIds, limit);
  const found = await client.$queryRaw<{ owner: string; id: string }[]>(query);
  const rows = await client.ruleApplication.findMany({ where: { tenantId, id: { in: found.map(({ id }) => id) } } });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return groupRows(found, 'rule', (id) => byId.get(id));
}

function groupRows<Row extends StoredRow | RuleApplication>(
  found: readonly { owner: string; id: string }[],
  ownerType: MemoryReference['type'],
  rowOf: (id: string) => Row | undefined,
): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const { owner, id } of found) {
    const key = referenceKey({ type: ownerType, id: owner });
    const row = rowOf(id);
    if (row !== undefined) groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}
