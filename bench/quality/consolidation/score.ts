import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsolidationOutput } from '../../../src/lifecycle/consolidation/output.ts';
import { packageRoot } from '../../../src/shared/package-root.ts';

export type Half = 'development' | 'held-out';

export interface Keep {
  kind: 'fact' | 'rule';
  subject: string;
  says: string;
  must: string[];
  mustNot?: string[];
}

export interface LabelledText {
  id: string;
  style: 'summary' | 'speech';
  observedAt: string;
  content: string;
  keep: Keep[];
  never?: string[];
}

export interface ForeignText {
  id: string;
  content: string;
  never: string[];
}

/** One thing that an engine would store: a fact or a rule. */
export interface Item {
  kind: 'fact' | 'rule';
  /** Subject, predicate and content: what patterns are tested against. */
  text: string;
  content: string;
}

export interface ScoredText {
  text: LabelledText;
  items: Item[];
  missed: Keep[];
  /** Items that match nothing to keep and were not judged right by a person. */
  wrong: Item[];
  violations: Item[];
}

const folder = join(packageRoot, 'bench', 'quality', 'consolidation');

export function readSet(name: string, half: Half): unknown {
  return JSON.parse(readFileSync(join(folder, `${name}.${half}.json`), 'utf8'));
}

/** Verdicts of a person on items that match no entry of `keep`: by text id and content. */
export type Judged = Record<string, Record<string, 'right' | 'wrong'>>;

export function readJudged(half: Half): Judged {
  try {
    return readSet('judged', half) as Judged;
  } catch {
    return {};
  }
}

export function listItems(output: ConsolidationOutput): Item[] {
  const facts = (output.new_facts ?? []).map(({ subject, predicate, content }): Item => {
    return { kind: 'fact', text: `${subject} ${predicate} ${content}`, content };
  });
  const updates = (output.updated_facts ?? []).map(({ content }): Item => ({ kind: 'fact', text: content, content }));
  const rules = (output.new_rules ?? []).map(({ content }): Item => ({ kind: 'rule', text: content, content }));
  return [...facts, ...updates, ...rules];
}

export function scoreText(text: LabelledText, items: Item[], judged: Judged): ScoredText {
  const verdicts = judged[text.id] ?? {};
  const missed = text.keep.filter((keep) => !items.some((item) => matches(item, keep)));
  const violations = items.filter((item) => (text.never ?? []).some((pattern) => test(pattern, item.text)));
  const wrong = items.filter(
    (item) => !text.keep.some((keep) => matches(item, keep)) && verdicts[item.content] !== 'right',
  );
  return { text, items, missed, wrong, violations };
}

function matches(item: Item, { kind, must, mustNot = [] }: Keep): boolean {
  const isFound = must.every((pattern) => test(pattern, item.text));
  return item.kind === kind && isFound && !mustNot.some((pattern) => test(pattern, item.text));
}

export function test(pattern: string, text: string): boolean {
  return new RegExp(pattern, 'iu').test(text);
}

export interface Share {
  found: number;
  of: number;
}

export function recallOf(scored: readonly ScoredText[], kind: Keep['kind']): Share {
  const all = scored.flatMap(({ text }) => text.keep.filter((keep) => keep.kind === kind)).length;
  const missed = scored.flatMap((one) => one.missed.filter((keep) => keep.kind === kind)).length;
  return { found: all - missed, of: all };
}

export function precisionOf(scored: readonly ScoredText[], kind: Keep['kind']): Share {
  const all = scored.flatMap(({ items }) => items.filter((item) => item.kind === kind)).length;
  const wrong = scored.flatMap((one) => one.wrong.filter((item) => item.kind === kind)).length;
  return { found: all - wrong, of: all };
}

export function describeShare({ found, of }: Share): string {
  return of === 0 ? 'none' : `${found} of ${of} (${((100 * found) / of).toFixed(1)} %)`;
}

export function addShares(one: Share, other: Share): Share {
  return { found: one.found + other.found, of: one.of + other.of };
}
