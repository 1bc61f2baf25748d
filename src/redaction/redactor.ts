import { createHmac } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../shared/errors.ts';
import { findAll } from './find.ts';
import { findingKinds, type Finding, type FindingKind } from './finding.ts';
import { redactionPolicyOf, type RedactionMode, type RedactionPolicy } from './policy.ts';
import { isSecretUnder } from './secrets/values.ts';

declare const looked: unique symbol;

/** Text that went through a redactor: the only kind of text that may be stored. */
export type RedactedText = string & { readonly [looked]: true };

/** Number of findings by kind. */
export type RedactionCounts = Partial<Record<FindingKind, number>>;

/** A text that was truncated. Lengths are in UTF-16 code units, after normalisation and masking. */
export interface TextCut {
  readonly field: string;
  readonly fromLength: number;
  readonly toLength: number;
}

/** What a write removed from its texts. A field is absent if nothing was removed. */
export interface Omissions {
  readonly redacted?: RedactionCounts;
  readonly cut?: readonly TextCut[];
}

/** The tenant whose policy applies. */
export interface RedactionContext {
  readonly config: Config;
  readonly principal: { readonly tenantId: string };
}

/** Redacts the texts of one write and counts what it removed, for the event of the write. */
export interface Redactor {
  readonly counts: RedactionCounts;
  readonly cuts: readonly TextCut[];
  /** Replaces findings by marks. Throws INVALID_INPUT for a kind whose mode is `refuse`; the message never quotes it. */
  redact(field: string, text: string): RedactedText;
  /** Truncates between code points and records the cut. */
  cut(field: string, text: RedactedText, limit: number): RedactedText;
  /** Redacts a value of structured data by its name too: under `password` anything is a secret. */
  redactValue(field: string, name: string, value: string): RedactedText;
  /** Refuses a finding in a key, whatever the mode: marks would make different keys equal. */
  requireClean(field: string, name: string): RedactedText;
  /** Masks also what would be refused, for text that its sender cannot correct, such as an error of a program. */
  mask(text: string): RedactedText;
}

export function createRedactor(context: RedactionContext): Redactor {
  const policy = redactionPolicyOf(context.config, context.principal.tenantId);
  const kinds = findingKinds.filter((kind) => policy[kind] !== 'off');
  const counts: RedactionCounts = {};
  const cuts: TextCut[] = [];
  const replace = (text: string, findings: readonly Finding[], modes: RedactionPolicy): RedactedText => {
    for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
    return replaceAll(text, findings, (finding) => writeMark(context, finding, modes[finding.kind]));
  };
  const redact = (field: string, text: string, findings: readonly Finding[]): RedactedText => {
    const refused = findings.find(({ kind }) => policy[kind] === 'refuse');
    if (refused !== undefined) throw refusal(field, refused.kind);
    return replace(text, findings, policy);
  };
  return {
    counts,
    cuts,
    redact: (field, text) => redact(field, text, findAll(text, kinds)),
    cut: (field, text, limit) => {
      const kept = cutAtCodePoint(text, limit);
      if (kept.length === text.length) return text;
      cuts.push({ field, fromLength: text.length, toLength: kept.length });
      return kept;
    },
    redactValue: (field, name, value) => {
      const isSecret = policy.secret !== 'off' && isSecretUnder(name, value);
      const whole: Finding = { kind: 'secret', start: 0, end: value.length, canonical: value };
      return redact(field, value, isSecret ? [whole] : findAll(value, kinds));
    },
    requireClean: (field, name) => {
      const [found] = findAll(name, kinds);
      if (found !== undefined) throw refusal(field, found.kind);
      return name as RedactedText;
    },
    mask: (text) => replace(text, findAll(text, kinds), allowRefused(policy)),
  };
}

/** Returns whether an id chosen by a caller may go into logs and events: no tenant's policy would redact it. */
export function mayBeKept(config: Config, id: string): boolean {
  const tenants = ['', ...Object.keys(config.butler.tenants)];
  const policies = tenants.map((tenantId) => redactionPolicyOf(config, tenantId));
  const kinds = findingKinds.filter((kind) => policies.some((policy) => policy[kind] !== 'off'));
  return findAll(id, kinds).length === 0;
}

/** Marks text read from the tables, which hold only redacted text. */
export function asStored(text: string): RedactedText {
  return text as RedactedText;
}

/** Returns the part of an event's payload that says what was removed; empty if nothing was. */
export function omissionsOf({ counts, cuts }: Redactor): Omissions {
  return {
    ...(Object.keys(counts).length > 0 && { redacted: counts }),
    ...(cuts.length > 0 && { cut: cuts }),
  };
}

function cutAtCodePoint(text: RedactedText, limit: number): RedactedText {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit);
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)) as RedactedText;
}

function allowRefused(policy: RedactionPolicy): RedactionPolicy {
  const entries = Object.entries(policy).map(([kind, mode]) => [kind, mode === 'refuse' ? 'mask' : mode]);
  return Object.fromEntries(entries) as Record<FindingKind, RedactionMode>;
}

function replaceAll(text: string, findings: readonly Finding[], mark: (finding: Finding) => string): RedactedText {
  let [kept, from] = ['', 0];
  for (const finding of findings) {
    kept += text.slice(from, finding.start) + mark(finding);
    from = finding.end;
  }
  return (kept + text.slice(from)) as RedactedText;
}

const digestCharacters = 12;

/**
 * Returns the mark that replaces a finding. With `hash` it is keyed: card numbers are few enough to try all of them
 * against a digest without a key.
 */
function writeMark({ config, principal }: RedactionContext, { kind, canonical }: Finding, mode: RedactionMode): string {
  if (mode !== 'hash') return `[redacted:${kind}]`;
  const key = config.redaction.hashKey;
  if (key === undefined) throw new MemoryError('CONFIGURATION', 'butler.redaction.hash_key must be set (got nothing)');
  const digest = createHmac('sha256', key)
    .update(JSON.stringify([principal.tenantId, kind, canonical]))
    .digest('hex');
  return `[redacted:${kind}:${digest.slice(0, digestCharacters)}]`;
}

function refusal(field: string, kind: FindingKind): MemoryError {
  return new MemoryError(
    'INVALID_INPUT',
    `${field} must be text without ${nouns[kind]} (${kind}) (got one, which is not shown)`,
    {
      hint: 'Leave it out: this memory does not keep such things.',
    },
  );
}

const nouns: Record<FindingKind, string> = {
  secret: 'a password, key or token',
  iban: 'the number of a bank account',
  card: 'the number of a payment card',
  national_id: 'a national identity number',
  email: 'an e-mail address',
  phone: 'a phone number',
};
