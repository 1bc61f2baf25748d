import type { Meter } from './finding.ts';

/**
 * One form of what is looked for. A cheap pattern says where one may begin, a second one reads a window of bounded length
 * from there: however hostile the text, the work for each beginning has a bound.
 */
export interface Form {
  /** Where it may begin: global, never empty, no quantifier without a bound. */
  readonly start: RegExp;
  /** What it is, from there. Its first group, if it has one, belongs to it and is kept. */
  readonly shape: RegExp;
  /** Characters that the shape can need, with one to see where it ends. */
  readonly longest: number;
  /** Sticky: what more of it may follow, however long. */
  readonly tail?: RegExp;
  /** Its canonical form, where the shape alone cannot tell; null if it is none. */
  readonly read?: (match: RegExpExecArray, rest: string) => string | null;
  /** How much of what the shape found is of it, where that is not all. */
  readonly lengthOf?: (match: RegExpExecArray) => number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly canonical: string;
}

export function findForm(text: string, form: Form, meter: Meter): Span[] {
  const { start } = form;
  const spans: Span[] = [];
  meter.steps += text.length;
  start.lastIndex = 0;
  for (let head = start.exec(text); head !== null; head = start.exec(text)) {
    const span = readForm(text, head.index, form, meter);
    if (span === null) continue;
    spans.push(span);
    start.lastIndex = span.end;
  }
  return spans;
}

function readForm(text: string, at: number, form: Form, meter: Meter): Span | null {
  const { shape, longest, tail, read, lengthOf } = form;
  const window = text.slice(at, at + longest);
  meter.steps += window.length;
  const match = shape.exec(window);
  if (match === null) return null;
  const canonical = read?.(match, window.slice(match[0].length));
  if (canonical === null) return null;
  const start = at + (match[1]?.length ?? 0);
  const length = lengthOf?.(match) ?? match[0].length;
  const end = tail === undefined ? at + length : endOfRun(text, at + length, tail, meter);
  return { start, end, canonical: canonical ?? text.slice(start, end) };
}

/** Where the run that a sticky pattern describes ends. */
export function endOfRun(text: string, from: number, run: RegExp, meter: Meter): number {
  run.lastIndex = from;
  const length = run.exec(text)?.[0].length ?? 0;
  meter.steps += length;
  return from + length;
}
