import { isEmptySpeech } from './outdated/sentences.ts';
import type { MemoryContext } from './context.ts';
import { onlyButlerOf } from './reach.ts';
import { cutSpans, joinSpans, leaveOut, type Span } from './spans.ts';

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

/** Masks the hidden spans of a row for butlers. Operators read the whole text. */
export function maskFor<Row extends object>(caller: Pick<MemoryContext, 'principal'>, row: Row): Row {
  return onlyButlerOf(caller) === null ? row : maskHidden(row);
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
