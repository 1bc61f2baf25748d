import type { MemoryCore } from '../../../src/create-memory.ts';
import { consolidateWith } from '../../../src/lifecycle/consolidation/consolidate.ts';
import type { ConsolidationEngine } from '../../../src/lifecycle/consolidation/engine.ts';
import type { ConsolidationOutput } from '../../../src/lifecycle/consolidation/output.ts';
import { createTenantContext, type MemoryContext } from '../../../src/memory/context.ts';
import { ingestEpisodes } from '../../../src/memory/episodes/episodes.ts';
import { liveValidities } from '../../../src/memory/facts/fact-values.ts';
import { storeFact } from '../../../src/memory/facts/facts.ts';
import { openRows } from '../../../src/encryption/sealing.ts';
import { readSet, test, type Half } from './score.ts';

interface Session {
  observedAt: string;
  butler: string;
  stored: { subject: string; predicate: string; content: string }[];
  summary: string;
}

interface AgentStore {
  sessions: Session[];
  wrong: string[];
  unstored: string[];
}

export interface StoreResult {
  /** Live facts that consolidation made or changed. */
  created: string[];
  wrong: string[];
  /** How many of what only the summaries say is known in the end. */
  added: number;
  unstored: number;
}

/** Stores what agents stored and the summaries of the same sessions, consolidating after each session or once a week. */
export async function fillAgentStore(
  core: MemoryCore,
  engine: ConsolidationEngine,
  { half, isWeekly, setNow }: { half: Half; isWeekly: boolean; setNow: (now: Date) => void },
): Promise<StoreResult> {
  const { sessions, wrong, unstored } = readSet('agent-store', half) as AgentStore;
  const context = createTenantContext(core, isWeekly ? 'weekly' : 'after-each');
  const stored = new Set<string>();
  let sweptAt = Date.parse(sessions[0]?.observedAt ?? '');
  for (const session of sessions) {
    const observedAt = new Date(session.observedAt);
    setNow(observedAt);
    for (const fact of session.stored) stored.add((await storeFact(context, { ...fact, observedAt })).value.id);
    await ingestEpisodes(context, [{ butler: session.butler, content: session.summary, observedAt }]);
    setNow(new Date(observedAt.getTime() + 60_000));
    if (isWeekly && observedAt.getTime() - sweptAt < 6 * 86_400_000 && session !== sessions.at(-1)) continue;
    sweptAt = observedAt.getTime();
    await consolidateWith(context, engine, {});
  }
  const where = { tenantId: context.principal.tenantId, validity: { in: liveValidities } };
  const rows = (await context.db.client.fact.findMany({ where })).filter(({ id }) => !stored.has(id));
  const facts = await openRows(context, rows);
  const rules = await context.db.client.rule.findMany({ where: { tenantId: context.principal.tenantId } });
  const created = facts.map(({ subject, predicate, content }) => `${subject} ${predicate} ${content}`);
  const all = [...created, ...rules.map(({ content }) => content)];
  return {
    created: all,
    wrong: created.filter((text) => wrong.some((pattern) => test(pattern, text))),
    added: unstored.filter((pattern) => all.some((text) => test(pattern, text))).length,
    unstored: unstored.length,
  };
}

export interface NoteChange {
  id: string;
  first: { observedAt: string; text: string };
  second: { observedAt: string; text: string };
  relation: 'changes' | 'repeats' | 'unrelated';
}

export type Outcome = 'superseded' | 'review' | 'confirmed' | 'new' | 'nothing';

/** Stores the first note of a pair as the engine would, then has it read the second. */
export async function readPair(
  core: MemoryCore,
  engine: ConsolidationEngine,
  { id, first, second }: NoteChange,
): Promise<Outcome> {
  const context = createTenantContext(core, id);
  const before = await extract(context, engine, first);
  for (const fact of before.new_facts ?? []) {
    const { subject, predicate, content } = fact;
    await storeFact(context, { subject, predicate, content, observedAt: new Date(first.observedAt) });
  }
  const after = await extract(context, engine, second);
  if ((before.new_facts ?? []).length === 0) return 'nothing';
  const keys = new Set((before.new_facts ?? []).map(({ subject, predicate }) => `${subject} ${predicate}`));
  if ((after.updated_facts ?? []).length > 0) return 'superseded';
  if ((after.new_facts ?? []).some(({ subject, predicate }) => keys.has(`${subject} ${predicate}`)))
    return 'superseded';
  if ((after.new_facts ?? []).some(({ may_change: ids }) => (ids ?? []).length > 0)) return 'review';
  if ((after.confirmations ?? []).length > 0) return 'confirmed';
  return (after.new_facts ?? []).length > 0 ? 'new' : 'nothing';
}

async function extract(
  context: MemoryContext,
  engine: ConsolidationEngine,
  { observedAt, text }: { observedAt: string; text: string },
): Promise<ConsolidationOutput> {
  const at = new Date(observedAt);
  const episode = {
    id: 'episode',
    sessionId: null,
    content: text,
    segments: [],
    importance: 5,
    createdAt: at,
    observedAt: at,
  };
  const claim = { runId: 'run', butler: 'home', worker: 'bench', engine: engine.name, leaseExpiresAt: at };
  const { output } = await engine.extract(context, { ...claim, episodes: [episode] }, new AbortController().signal);
  return output as ConsolidationOutput;
}
