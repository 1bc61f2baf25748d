import { isEmptySpeech } from '../outdated/sentences.ts';
import type { MemoryContext } from '../context.ts';
import { onlyButlerOf } from '../reach.ts';
import { cutSpans, joinSpans, leaveOut, type Span } from '../spans.ts';

/** Hidden spans of an episode, by the id of the forgotten fact or rule that they say, or of the event that forgot a topic. */
export type HiddenSpans = Record<string, [number, number][]>;

/** What butlers read in the place of a hidden span. */
const forgottenMark = '[forgotten]';

interface PerhapsHidden {
  hiddenSpans?: unknown;
}

/** Of a row. A fact or rule has none. */
export function hiddenSpansOf(row: PerhapsHidden): HiddenSpans {
  return (row.hiddenSpans ?? {}) as HiddenSpans;
}

export function listHiddenSpans(row: PerhapsHidden): Span[] {
  return joinSpans(Object.values(hiddenSpansOf(row)).flat());
}

/** The text that an episode is found by: without its hidden spans. */
export function textToFind(content: string, hidden: HiddenSpans): string {
  const spans = listHiddenSpans({ hiddenSpans: hidden });
  if (spans.length === 0) return content;
  const text = leaveOut(content, spans);
  return isEmptySpeech(text) ? forgottenMark : text;
}

/** Masks a row for butlers: its hidden spans, or all of a forgotten memory. Operators read the whole text. */
export function maskFor<Row extends object>(caller: Pick<MemoryContext, 'principal'>, row: Row): Row {
  if (onlyButlerOf(caller) === null || reported.has(row)) return row;
  return isForgotten(row) ? maskForgotten(row) : maskHidden(row);
}

const reported = new WeakSet<object>();

/** Lets a row be read by who has just forgotten it: the answer says what was forgotten. */
export function asReported<Row extends object>(row: Row): Row {
  reported.add(row);
  return row;
}

/** Whether a memory was forgotten, by its columns or, for one of the past, by what became of it since. */
export function isForgotten(row: object): boolean {
  const { validity, forgottenAt, forgottenSince } = row as Partial<Record<string, unknown>>;
  if (typeof forgottenSince === 'boolean') return forgottenSince;
  return validity === 'retracted' || (forgottenAt ?? null) !== null;
}

/** Masks what a memory says. What it is about stays, so that it can be chosen and restored. */
function maskForgotten<Row extends object>(row: Row): Row {
  const has = (name: string): boolean => ((row as Record<string, unknown>)[name] ?? null) !== null;
  return {
    ...row,
    content: forgottenMark,
    ...(has('originalContent') && { originalContent: forgottenMark }),
    ...(has('hiddenSpans') && { hiddenSpans: {} }),
    ...(has('segments') && { segments: [] }),
    ...(has('sealedContent') && { sealedContent: null }),
    tags: [],
    metadata: {},
  };
}

/** Masks the hidden spans of a row. The result has none: offsets hold in the whole text only. */
export function maskHidden<Row extends object>(row: Row, mark = forgottenMark): Row {
  const spans = listHiddenSpans(row);
  if (spans.length === 0 || !('content' in row) || typeof row.content !== 'string') return row;
  const parts = cutSpans(row.content, spans);
  const segments = 'segments' in row && Array.isArray(row.segments) ? row.segments : [];
  return {
    ...row,
    content: replaceSpans(row.content, spans, mark),
    hiddenSpans: {},
    segments: (segments as { text: string }[]).map((one) => ({
      ...one,
      text: parts.reduce((text, part) => text.replaceAll(part, mark), one.text),
    })),
  };
}

function replaceSpans(text: string, spans: readonly Span[], mark: string): string {
  const characters = Array.from(text);
  for (const [start, end] of spans.toReversed()) characters.splice(start, end - start, mark);
  return characters.join('');
}
