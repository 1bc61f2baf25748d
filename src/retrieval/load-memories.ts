import type { MemoryContext } from '../memory/context.ts';
import type { MemoryReference } from '../memory/links.ts';
import type { Memory } from '../memory/memories.ts';

/** By id. What was deleted since it was found is not in it. */
export async function loadMemories(
  { db, principal }: MemoryContext,
  references: readonly MemoryReference[],
): Promise<Map<string, Memory>> {
  const { tenantId } = principal;
  const idsOf = (type: MemoryReference['type']): string[] =>
    references.filter((reference) => reference.type === type).map(({ id }) => id);
  const whereOf = (ids: string[]): { tenantId: string; id: { in: string[] } } => ({ tenantId, id: { in: ids } });
  const ids = { episode: idsOf('episode'), fact: idsOf('fact'), rule: idsOf('rule') };
  if (references.length === 0) return new Map();
  return db.transaction(tenantId, async (transaction) => {
    const none: never[] = [];
    const episodes =
      ids.episode.length === 0 ? none : await transaction.episode.findMany({ where: whereOf(ids.episode) });
    const facts = ids.fact.length === 0 ? none : await transaction.fact.findMany({ where: whereOf(ids.fact) });
    const rules = ids.rule.length === 0 ? none : await transaction.rule.findMany({ where: whereOf(ids.rule) });
    return new Map<string, Memory>([
      ...episodes.map((row): [string, Memory] => [row.id, { type: 'episode', row }]),
      ...facts.map((row): [string, Memory] => [row.id, { type: 'fact', row }]),
      ...rules.map((row): [string, Memory] => [row.id, { type: 'rule', row }]),
    ]);
  });
}
