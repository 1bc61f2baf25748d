import type { Finder, Span } from '../finding.ts';
import { endOfRun, findForm } from '../scan.ts';
import { findLabelled } from './labelled.ts';
import { placeForms } from './places.ts';
import { tokenForms } from './tokens.ts';

const tokenRun = /[\w-]*/y;

/** Finds JSON Web Tokens: three parts with dots between them, of which the first two are JSON. */
function findWebTokens(text: string): Span[] {
  const spans: Span[] = [];
  for (const { index: start } of text.matchAll(/(?<![\w-])eyJ/g)) {
    const head = endOfRun(text, start, tokenRun);
    if (head - start < 10 || !text.startsWith('.eyJ', head)) continue;
    const body = endOfRun(text, head + 1, tokenRun);
    if (text[body] !== '.') continue;
    const end = endOfRun(text, body + 1, tokenRun);
    if (end - body > 8) spans.push({ start, end, canonical: text.slice(start, end) });
  }
  return spans;
}

const pemStart = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const pemEnd = /-----END [A-Z ]{0,40}-----/y;
/** Matches the rest of a key whose end is missing. */
const pemRun = /[A-Za-z0-9+/=\s\\]*/y;

function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  pemStart.lastIndex = 0;
  for (let head = pemStart.exec(text); head !== null; head = pemStart.exec(text)) {
    const end = endOfPem(text, pemStart.lastIndex);
    spans.push({ start: head.index, end, canonical: text.slice(head.index, end).replace(/\s+/g, '') });
    pemStart.lastIndex = end;
  }
  return spans;
}

/** Returns the end of a PEM block: its END line, or where its characters stop if the next hyphens start another block. */
function endOfPem(text: string, from: number): number {
  const hyphens = text.indexOf('-----', from);
  pemEnd.lastIndex = hyphens;
  const end = hyphens < 0 ? null : pemEnd.exec(text);
  return end === null ? endOfRun(text, from, pemRun) : hyphens + end[0].length;
}

const forms = [...tokenForms, ...placeForms];

export const findSecrets: Finder = (text) => [
  ...findPrivateKeys(text),
  ...findWebTokens(text),
  ...findLabelled(text),
  ...forms.flatMap((form) => findForm(text, form)),
];
