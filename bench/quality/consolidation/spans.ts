import type { ConsolidationOutput } from '../../../src/lifecycle/consolidation/output.ts';
import { readSet, type Share } from './score.ts';

/** A part of a session that a person labelled: worth keeping as a fact or a rule, or not. */
export interface Span {
  text: string;
  keep: 'fact' | 'rule' | 'no';
}

export interface LabelledSession {
  /** Set and place: "1-17". */
  id: string;
  observedAt: string;
  content: string;
  spans: Span[];
  /** Set aside: scored, and never read while the engine is changed. */
  isValidation: boolean;
}

/** What an engine would keep, and the sentence that says it. */
export interface SpanItem {
  kind: 'fact' | 'rule';
  content: string;
  quote: string;
}

const sets = [1, 2, 3, 4, 5, 6];

export function readSessions(): LabelledSession[] {
  return sets.flatMap((set) =>
    (readSet(`sessions-${set}`, 'development') as LabelledSession[]).map((session, place) => ({
      ...session,
      id: `${set}-${place}`,
      isValidation: place % 5 === 4,
      spans: session.spans.map((span) => ({ ...span, text: span.text.replace(/^(?:User|Assistant): /, '') })),
    })),
  );
}

export function listSpanItems({ new_facts = [], new_rules = [] }: ConsolidationOutput): SpanItem[] {
  const itemOf = (kind: SpanItem['kind'], content: string, evidence: readonly { quote: string }[]): SpanItem => {
    return { kind, content, quote: evidence.map(({ quote }) => quote).join(' ') };
  };
  return [
    ...(new_facts ?? []).map(({ content, evidence }) => itemOf('fact', content, evidence)),
    ...(new_rules ?? []).map(({ content, evidence }) => itemOf('rule', content, evidence)),
  ];
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

function shareOf(part: string, whole: string): number {
  const words = wordsOf(whole);
  const own = [...wordsOf(part)];
  return own.length === 0 ? 0 : own.filter((word) => words.has(word)).length / own.length;
}

function covers({ content, quote }: SpanItem, { text }: Span): boolean {
  return shareOf(text, content) >= 0.6 && shareOf(text, quote) >= 0.8;
}

/** The labels that an item answers for: those of the spans that it covers, else that of the span that it is part of. */
export function labelsOf(item: SpanItem, spans: readonly Span[]): Span['keep'][] {
  const covered = spans.filter((span) => covers(item, span));
  if (covered.length > 0) return covered.map(({ keep }) => keep);
  const [nearest] = spans.toSorted((a, b) => shareOf(item.content, b.text) - shareOf(item.content, a.text));
  return nearest === undefined ? [] : [nearest.keep];
}

export interface SpanScore {
  facts: Share;
  rules: Share;
  /** Items that cover a span worth keeping; of rules, one that is a rule. */
  precision: Share;
  missed: Span[];
  wrong: SpanItem[];
}

/** A fact counts as found whatever kind of item says it; a rule only as a rule. */
export function scoreSession({ spans }: LabelledSession, items: readonly SpanItem[]): SpanScore {
  const isFound = (span: Span): boolean => {
    // A sentence may have been split: what it says is found when its parts together say it.
    const parts = items.filter((item) => covers(item, span) || shareOf(item.content, span.text) >= 0.6);
    const isSaid = shareOf(span.text, parts.map(({ content }) => content).join(' ')) >= 0.6;
    return isSaid && (span.keep === 'fact' || parts.some(({ kind }) => kind === 'rule'));
  };
  const missed = spans.filter((span) => span.keep !== 'no' && !isFound(span));
  const wrong = items.filter((item) => {
    const labels = labelsOf(item, spans);
    return !labels.some((label) => (item.kind === 'rule' ? label === 'rule' : label !== 'no'));
  });
  const share = (kind: Span['keep']): Share => {
    const of = spans.filter(({ keep }) => keep === kind).length;
    return { found: of - missed.filter(({ keep }) => keep === kind).length, of };
  };
  const precision = { found: items.length - wrong.length, of: items.length };
  return { facts: share('fact'), rules: share('rule'), precision, missed, wrong };
}
