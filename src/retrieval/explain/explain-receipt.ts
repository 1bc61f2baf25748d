import type { MemoryContext } from '../../memory/context.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import type { Ranked } from '../pipeline/ranked.ts';
import type { ReceiptChoice } from '../receipts/receipt-form.ts';
import { getReceipt, listDropped, type Receipt } from '../receipts/receipts.ts';

export interface ReceiptExplanation {
  receipt: Receipt;
  /** Plain text, one thing a line. */
  account: string;
}

/** Describes a receipt for people: the query, the memories shown with their scores, and those dropped with the stage. */
export async function explainReceipt(context: MemoryContext, receiptId: string): Promise<ReceiptExplanation> {
  const receipt = await getReceipt(context, receiptId);
  const account = [...head(receipt), ...shown(receipt), ...dropped(receipt), ...times(receipt)].join('\n');
  return { receipt, account };
}

function head(receipt: Receipt): string[] {
  const { id, kind, butler, createdAt, requestId, query, intent, asOf, configurationDigest } = receipt;
  const forWhom = butler === null ? '' : ` for ${butler}`;
  const moment = asOf === null ? '' : `, as of ${asOf.toISOString()}`;
  return [
    `Receipt ${id}: ${kind}${forWhom} at ${createdAt.toISOString()}, request ${requestId ?? 'unknown'}`,
    `Asked: ${JSON.stringify(query)}${intent === null ? '' : ` (taken as ${intent})`}${moment}`,
    `Configuration: ${configurationDigest}`,
  ];
}

function shown({ chosen, candidates, tokensUsed, tokenBudget, tokenizer }: Receipt): string[] {
  const tokens = tokenizer === null ? '' : `, ${tokensUsed ?? 0} of ${tokenBudget ?? 0} tokens by ${tokenizer}`;
  const ranked = new Map(candidates.map((candidate) => [candidate.memory.id, candidate]));
  return [`Shown: ${chosen.length}${tokens}`, ...chosen.map((choice) => describeChoice(choice, ranked.get(choice.id)))];
}

function describeChoice(
  { type, id, version, score, section, tokens }: ReceiptChoice,
  candidate: Ranked<MemoryReference> | undefined,
): string {
  const place = section === null ? '' : `, ${tokens ?? 0} tokens in ${section}`;
  return `  ${type} ${id} version ${version}: score ${figure(score)}${place}${describeScores(candidate)}`;
}

/** The database keeps no order of names. Parts of other names come after these. */
const partNames = ['relevance', 'importance', 'recency', 'confidence', 'maturityWeight', 'similarity', 'keywordScore'];
const stageNames = [
  'plan',
  'embed',
  'candidates',
  'fuse',
  'rerank',
  'score',
  'standing',
  'load',
  'tokenizer',
  'conflicts',
  'fit',
];

function describeScores(candidate: Ranked<MemoryReference> | undefined): string {
  const figures = inOrder({ ...candidate?.parts.composite, ...candidate?.parts.match }, partNames);
  return figures.length === 0 ? '' : ` (${figures.join(', ')})`;
}

function inOrder(values: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  const others = Object.keys(values).filter((name) => !names.includes(name));
  return [...names, ...others.toSorted()].flatMap((name) => {
    const value = values[name];
    return typeof value === 'number' ? [`${name} ${figure(value)}`] : [];
  });
}

function dropped(receipt: Receipt): string[] {
  const drops = listDropped(receipt);
  const count = drops.length + receipt.droppedUnnamed.reduce((sum, one) => sum + one.count, 0);
  return [
    `Dropped: ${count}`,
    ...drops.map(({ memory: { type, id }, droppedBy, score, reason }) => {
      return `  ${type} ${id}: ${droppedBy}, score ${figure(score)}${reason === null ? '' : ` (${reason})`}`;
    }),
    ...receipt.droppedUnnamed.map((one) => `  ${one.count} more: ${one.stage}`),
  ];
}

function times({ stageMilliseconds }: Receipt): string[] {
  return [`Milliseconds: ${inOrder(stageMilliseconds, stageNames).join(', ')}`];
}

function figure(value: number): number {
  return Number(value.toPrecision(3));
}
