import DataLoader from 'dataloader';
import type { StoredFact } from '../db/stored-fact.ts';
import type { MemoryEvent, Rule, RuleApplication } from '../generated/prisma/client.ts';
import type { MemoryContext } from '../memory/context.ts';
import { listEventsOf } from '../memory/history/history.ts';
import { listLinks, loadEnds, type LinkEnd, type LinkOfMemory, type LinksChoice } from '../memory/links/link-graph.ts';
import type { MemoryReference } from '../memory/links/links.ts';
import { loadForgottenMoments } from '../memory/rules/rules.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memory/memories.ts';
import { onlyButlerOf } from '../memory/reach.ts';
import { listReceiptsOf, type ReceiptSummary } from '../retrieval/receipts/receipts.ts';
import { listApplications, listLearnedFrom, listSuccessors } from '../memory/links/relatives.ts';

/** A question that is asked of many memories at once: which one, and how. */
interface Question<Choice> {
  reference: MemoryReference;
  choice: Choice;
}

export interface Loaders {
  memories: DataLoader<MemoryReference, StoredRow | null, string>;
  ends: DataLoader<MemoryReference, LinkEnd | null, string>;
  links: DataLoader<Question<LinksChoice>, LinkOfMemory[], string>;
  events: DataLoader<Question<{ limit: number }>, MemoryEvent[], string>;
  applications: DataLoader<Question<{ limit: number }>, RuleApplication[], string>;
  factsLearnedFrom: DataLoader<Question<{ limit: number }>, StoredFact[], string>;
  rulesLearnedFrom: DataLoader<Question<{ limit: number }>, Rule[], string>;
  receipts: DataLoader<Question<{ limit: number }>, ReceiptSummary[], string>;
  successors: DataLoader<MemoryReference, StoredFact | null, string>;
  /** When a rule was last forgotten, up to a moment if one is given; empty if it never was. */
  forgottenMoments: DataLoader<Question<{ at: Date | null }>, Date[], string>;
}

const loaders = new WeakMap<MemoryContext, Loaders>();

/** Each level of a query costs the same number of statements however many memories it has: they are asked for together. */
export function loadersOf(context: MemoryContext): Loaders {
  const known = loaders.get(context) ?? createLoaders(context);
  loaders.set(context, known);
  return known;
}

function createLoaders(context: MemoryContext): Loaders {
  return {
    memories: ofReferences((references) => loadMemories(context, references)),
    ends: ofReferences((references) => loadEnds(context, references)),
    links: ofQuestions((references, choice) => listLinks(context, references, choice)),
    events: ofQuestions((references, { limit }) => listEventsOf(context, references, limit)),
    applications: ofQuestions((references, { limit }) => listApplications(context, references, limit)),
    factsLearnedFrom: ofQuestions((references, { limit }) => listLearnedFrom(context, 'fact', references, limit)),
    rulesLearnedFrom: ofQuestions((references, { limit }) => listLearnedFrom(context, 'rule', references, limit)),
    receipts: ofQuestions((references, { limit }) => listReceiptsOf(context, references, limit)),
    successors: ofReferences((references) => listSuccessors(context, references)),
    forgottenMoments: ofQuestions((references, { at }) => loadForgottenMoments(context, references, at)),
  };
}

function ofReferences<Value>(
  load: (references: readonly MemoryReference[]) => Promise<Map<string, Value>>,
): DataLoader<MemoryReference, Value | null, string> {
  return batch(referenceKey, async (references) => {
    const found = await load(references);
    return (reference) => found.get(referenceKey(reference)) ?? null;
  });
}

function ofQuestions<Choice, Value>(
  load: (references: readonly MemoryReference[], choice: Choice) => Promise<Map<string, Value[]>>,
): DataLoader<Question<Choice>, Value[], string> {
  const keyOf = ({ reference, choice }: Question<Choice>): string =>
    JSON.stringify([reference.type, reference.id, choice]);
  return batch(keyOf, async (questions) => {
    const answers = new Map<string, Map<string, Value[]>>();
    for (const { choice } of questions) {
      const name = JSON.stringify(choice);
      if (answers.has(name)) continue;
      const alike = questions.filter((question) => JSON.stringify(question.choice) === name);
      const references = alike.map(({ reference }) => reference);
      answers.set(name, await load(references, choice));
    }
    return ({ reference, choice }) => answers.get(JSON.stringify(choice))?.get(referenceKey(reference)) ?? [];
  });
}

/**
 * Batches and does not remember: a feed lives long, and its answers must be of now. Each key is loaded once a batch: a
 * statement that is given a key twice answers its rows twice.
 */
function batch<Key, Value>(
  keyOf: (key: Key) => string,
  load: (keys: readonly Key[]) => Promise<(key: Key) => Value>,
): DataLoader<Key, Value, string> {
  return new DataLoader<Key, Value, string>(
    async (keys) => {
      const distinct = new Map(keys.map((key) => [keyOf(key), key]));
      const find = await load([...distinct.values()]);
      return keys.map(find);
    },
    { cache: false },
  );
}

/** The id of the episode that something was learned from, for who may know of that episode. */
export async function findSourceId(context: MemoryContext, id: string | null): Promise<string | null> {
  if (id === null || onlyButlerOf(context) === null) return id;
  return (await loadersOf(context).ends.load({ type: 'episode', id })) === null ? null : id;
}

export function endRow(end: LinkEnd | null): StoredRow | null {
  return end?.kind === 'memory' ? end.row : null;
}
