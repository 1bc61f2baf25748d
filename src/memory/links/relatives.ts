import { listLearnedIds } from '../../db/queries/links.ts';
import { listApplications as listRows } from '../../db/queries/rules.ts';
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
  const episodeIds = episodes.map(({ id }) => id);
  const found = await listLearnedIds(context.db.client, type, episodeIds, limit);
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

/** Lists the judgements that count, newest first. */
export async function listApplications(
  context: MemoryContext,
  rules: readonly MemoryReference[],
  limit: number,
): Promise<Map<string, RuleApplication[]>> {
  const ruleIds = rules.map(({ id }) => id);
  const rows = await listRows(context.db.client, ruleIds, limit);
  const found = rows.map(({ ruleId, id }) => ({ owner: ruleId, id }));
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
