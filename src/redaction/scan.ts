import type { Span } from './finding.ts';

/**
 * One written form of a kind. A cheap pattern finds where it may start, a second one reads a window of bounded length
 * from there, so that the work for each start is bounded.
 */
export interface Form {
  /** Matches where the form may start: global, never empty, no unbounded quantifier. */
  readonly start: RegExp;
  /** Matches the form from there. Its first group, if it has one, is kept and not redacted. */
  readonly shape: RegExp;
  /** Length of the window: what the shape can need, and one character more to see where it ends. */
  readonly longest: number;
  /** Sticky pattern for a continuation of any length. */
  readonly tail?: RegExp;
  /** Returns the canonical form, or null if a checksum or length shows that the match is something else. */
  readonly read?: (match: RegExpExecArray, rest: string) => string | null;
  /** Returns how many characters of the match belong to it; all of them by default. */
  readonly lengthOf?: (match: RegExpExecArray) => number;
}

export function findForm(text: string, form: Form): Span[] {
  const { start } = form;
  const spans: Span[] = [];
  start.lastIndex = 0;
  for (let head = start.exec(text); head !== null; head = start.exec(text)) {
    const span = readForm(text, head.index, form);
    if (span === null) continue;
    spans.push(span);
    start.lastIndex = span.end;
  }
  return spans;
}

function readForm(text: string, at: number, form: Form): Span | null {
  const { shape, longest, tail, read, lengthOf } = form;
  const window = text.slice(at, at + longest);
  const match = shape.exec(window);
  if (match === null) return null;
  const canonical = read?.(match, window.slice(match[0].length));
  if (canonical === null) return null;
  const start = at + (match[1]?.length ?? 0);
  const length = lengthOf?.(match) ?? match[0].length;
  const end = tail === undefined ? at + length : endOfRun(text, at + length, tail);
  return { start, end, canonical: canonical ?? text.slice(start, end) };
}

/** Returns the end of the run that a sticky pattern matches. */
export function endOfRun(text: string, from: number, run: RegExp): number {
  run.lastIndex = from;
  return from + (run.exec(text)?.[0].length ?? 0);
}
