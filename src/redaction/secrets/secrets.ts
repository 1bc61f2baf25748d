import type { Finder, Meter } from '../finding.ts';
import { endOfRun, findForm, type Span } from '../scan.ts';
import { findLabelled } from './labelled.ts';
import { placeForms } from './places.ts';
import { tokenForms } from './tokens.ts';

const tokenRun = /[\w-]*/y;

/** Three parts with dots between them, the first two of which are JSON. */
function findWebTokens(text: string, meter: Meter): Span[] {
  const spans: Span[] = [];
  meter.steps += text.length;
  for (const { index: start } of text.matchAll(/(?<![\w-])eyJ/g)) {
    const head = endOfRun(text, start, tokenRun, meter);
    if (head - start < 10 || !text.startsWith('.eyJ', head)) continue;
    const body = endOfRun(text, head + 1, tokenRun, meter);
    if (text[body] !== '.') continue;
    const end = endOfRun(text, body + 1, tokenRun, meter);
    if (end - body > 8) spans.push({ start, end, canonical: text.slice(start, end) });
  }
  return spans;
}

const pemStart = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const pemEnd = /-----END [A-Z ]{0,40}-----/y;
/** Of one that was cut: what could still be of it. */
const pemRun = /[A-Za-z0-9+/=\s\\]*/y;

function findPrivateKeys(text: string, meter: Meter): Span[] {
  const spans: Span[] = [];
  meter.steps += text.length;
  pemStart.lastIndex = 0;
  for (let head = pemStart.exec(text); head !== null; head = pemStart.exec(text)) {
    const end = endOfPem(text, pemStart.lastIndex, meter);
    spans.push({ start: head.index, end, canonical: text.slice(head.index, end).replace(/\s+/g, '') });
    pemStart.lastIndex = end;
  }
  return spans;
}

/** The next line of hyphens is its end, or the beginning of another. */
function endOfPem(text: string, from: number, meter: Meter): number {
  const hyphens = text.indexOf('-----', from);
  meter.steps += (hyphens < 0 ? text.length : hyphens) - from;
  pemEnd.lastIndex = hyphens;
  const end = hyphens < 0 ? null : pemEnd.exec(text);
  return end === null ? endOfRun(text, from, pemRun, meter) : hyphens + end[0].length;
}

const forms = [...tokenForms, ...placeForms];

export const findSecrets: Finder = (text, meter) =>
  [
    ...findPrivateKeys(text, meter),
    ...findWebTokens(text, meter),
    ...findLabelled(text, meter),
    ...forms.flatMap((form) => findForm(text, form, meter)),
  ].map((span) => ({ ...span, kind: 'secret' }));
