import { readVersionStates } from '../../db/queries/past-states.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { referenceKey, type Memory } from '../../memory/memories.ts';
import { isForgotten, listHiddenSpans, maskFor } from '../../memory/forgetting/hidden-spans.ts';
import { leaveOut } from '../../memory/spans.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { withHidden } from '../../memory/history/past-hidden.ts';
import { openState } from '../../encryption/sealing.ts';
import { toPastRow } from '../../memory/history/snapshots.ts';
import { lineOf } from '../context/memory-lines.ts';
import type { ReceiptChoice } from './receipt-form.ts';
import { digestOf, getReceipt, type Receipt } from './receipts.ts';
import { isKept } from '../pipeline/ranked.ts';
import { isRelevant } from '../pipeline/score.ts';
import { renderBlock, sectionNames, type SectionName } from '../context/sections.ts';

export interface ReplayOutcome {
  receipt: Receipt;
  /** The text of a context as it was given out; null for a recall or search, which has none. */
  text: string | null;
  /** The memories shown, in their order and in the version that was shown. */
  memories: Memory[];
  /** Whether text and memories are, to the byte, what was given out. */
  isExact: boolean;
  /** Memories whose state of then is not kept any more. */
  missing: MemoryReference[];
  /** Memories whose line would be written differently today. */
  changed: MemoryReference[];
}

/**
 * A past answer once more, from the versions that it showed and as of its own time: what has happened to its memories
 * since changes nothing, except that butlers do not read again what was forgotten.
 */
export async function replayReceipt(context: MemoryContext, receiptId: string): Promise<ReplayOutcome> {
  const receipt = await getReceipt(context, receiptId);
  const states = await readStatesShown(context, receipt);
  const shown = receipt.chosen.flatMap((choice) => {
    const memory = states.get(referenceKey(choice));
    if (memory === undefined) return [];
    const line = lineOf(withoutLeftOut(context, memory, choice), receipt.createdAt, choice.conflicts);
    return [{ choice, memory, line }];
  });
  const missing = receipt.chosen.filter((choice) => !states.has(referenceKey(choice))).map(asReference);
  const changed = shown.filter(isChanged).map(({ choice }) => asReference(choice));
  return {
    receipt,
    text: receipt.kind === 'context' ? renderShown(receipt, shown) : null,
    memories: shown.map(({ memory }) => ({ ...memory, row: maskFor(context, memory.row) }) as Memory),
    isExact: missing.length === 0 && changed.length === 0,
    missing,
    changed,
  };
}

/** An episode was shown without what was outdated in it. What was forgotten since, butlers do not read again. */
function withoutLeftOut(context: MemoryContext, memory: Memory, { leftOut }: ReceiptChoice): Memory {
  if (memory.type !== 'episode' || isForgotten(memory.row)) {
    return { ...memory, row: maskFor(context, memory.row) } as Memory;
  }
  const hidden = onlyButlerOf(context) === null ? [] : listHiddenSpans(memory.row);
  const spans = [...leftOut, ...hidden];
  if (spans.length === 0) return memory;
  return { ...memory, row: { ...memory.row, content: leaveOut(memory.row.content, spans) } };
}

interface ShownLine {
  choice: ReceiptChoice;
  memory: Memory;
  line: string;
}

async function readStatesShown(
  context: MemoryContext,
  { chosen, asOf, createdAt }: Receipt,
): Promise<Map<string, Memory>> {
  if (chosen.length === 0) return new Map();
  const states = await readVersionStates(context.db.client, chosen);
  const memories: Memory[] = [];
  for (const { type, state } of states) {
    const row = toPastRow(type, await openState(context, state), asOf ?? createdAt);
    memories.push({ type, row } as Memory);
  }
  const rows = await withHidden(
    context,
    memories.map(({ row }) => row),
  );
  return new Map(
    memories.map(({ type }, place) => {
      const row = rows[place] as Memory['row'];
      return [referenceKey({ type, id: row.id }), { type, row } as Memory];
    }),
  );
}

function renderShown({ candidates }: Receipt, shown: readonly ShownLine[]): string {
  const linesOf = (name: SectionName): string[] =>
    shown.filter(({ choice }) => choice.section === name).map(({ line }) => line);
  const entries = sectionNames.map((name) => [name, linesOf(name)]);
  return renderBlock(
    Object.fromEntries(entries) as Record<SectionName, string[]>,
    candidates.some((one) => isKept(one) && isRelevant(one)),
  );
}

function isChanged({ choice, line }: ShownLine): boolean {
  return choice.lineDigest !== null && choice.lineDigest !== digestOf(line);
}

function asReference({ type, id }: MemoryReference): MemoryReference {
  return { type, id };
}
