import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Episode, Fact, Rule } from '../../src/generated/prisma/client.ts';
import { inertText } from '../../src/shared/untrusted-text.ts';
import { age, lineOf } from '../../src/retrieval/context/memory-lines.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
const day = 86_400_000;

const id = '01981f6e-8a5c-7000-8000-000000000000';
const handle = 'aa000aa';

const plainFact = {
  id,
  subject: 'user',
  predicate: 'favourite_drink',
  content: 'tea',
  kind: 'state',
  permanence: 'stable',
  confidence: 1,
  decayRate: 0,
  createdAt: before(3 * day),
  lastConfirmedAt: before(2 * day),
  observedAt: null,
  validTo: null,
} as Fact;

const factLine = (change: Partial<Fact>): string => lineOf({ type: 'fact', row: { ...plainFact, ...change } }, now);

describe('the line of a fact', () => {
  it('names subject and predicate, unless the content does', () => {
    expect(factLine({})).toBe(`- user, favourite drink: tea [stable, confirmed 2d ago, ${handle}]`);
    expect(factLine({ content: 'The favourite drink of the user is tea' })).toBe(
      `- The favourite drink of the user is tea [stable, confirmed 2d ago, ${handle}]`,
    );
  });

  it('tells the confidence that is left when it is below 1', () => {
    expect(factLine({ confidence: 0.9, decayRate: 0.1 })).toContain('[stable, confirmed 2d ago, confidence 0.74,');
    expect(factLine({ confidence: 0.999 })).not.toContain('confidence');
  });

  it('tells when it was stored if it was never confirmed, when it happened if it is an event, and when it ended', () => {
    expect(factLine({ lastConfirmedAt: null })).toContain('[stable, stored 3d ago,');
    expect(factLine({ kind: 'event', observedAt: before(5 * day) })).toContain('[stable, observed 5d ago,');
    expect(factLine({ validTo: before(day) })).toContain('[stable, confirmed 2d ago, ended 1d ago,');
    expect(factLine({ validTo: new Date(now.getTime() + day) })).not.toContain('ended');
  });
});

describe('the lines of rules and episodes', () => {
  it('tell maturity and scope, or when it happened', () => {
    const rule = { ...plainFact, content: 'Ask first', maturity: 'proven', scope: 'global' } as unknown as Rule;
    const episode = { id, content: 'Tea', observedAt: before(2 * 3_600_000), createdAt: now } as Episode;

    expect(lineOf({ type: 'rule', row: rule }, now)).toBe(`- Ask first [proven, global, ${handle}]`);
    expect(lineOf({ type: 'rule', row: { ...rule, maturity: 'anti_pattern' } }, now)).toBe(
      `- WARNING: Ask first [anti_pattern, global, ${handle}]`,
    );
    expect(lineOf({ type: 'episode', row: episode }, now)).toBe(`- [2h ago, ${handle}] Tea`);
  });
});

describe('the line of a rule that the user asked for', () => {
  const asked = (askedByUserAt: Date, maturity = 'candidate'): string =>
    lineOf({ type: 'rule', row: { ...plainFact, maturity, scope: 'global', askedByUserAt } as unknown as Rule }, now);

  it('says so with the day, and the year where it is another', () => {
    expect(asked(new Date('2026-01-31T23:59:59Z'))).toContain('[asked by the user, 31 January, candidate, global');
    expect(asked(new Date('2025-09-23T08:00:00Z'))).toContain('[asked by the user, 23 September 2025, candidate');
  });

  it('does not say so of a warning, which says the opposite', () => {
    expect(asked(now, 'anti_pattern')).not.toContain('asked');
  });
});

describe('an age', () => {
  it.each([
    [-day, 'just now'],
    [59_999, 'just now'],
    [60_000, '1m ago'],
    [3_599_999, '59m ago'],
    [3_600_000, '1h ago'],
    [day - 1, '23h ago'],
    [day, '1d ago'],
    [89 * day, '89d ago'],
    [90 * day, '3mo ago'],
    [729 * day, '24mo ago'],
    [730 * day, '2y ago'],
  ])('of %d milliseconds is %s', (milliseconds, expected) => {
    expect(age(before(milliseconds), now)).toBe(expected);
  });
});

describe('inert text', () => {
  it('is one line without anything that opens a structure, for any text', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) => {
      const inert = inertText(text);
      expect(inert).not.toMatch(/[\n\r\v\f\u0085\u2028\u2029]/);
      expect(inert.replace(/\\./gsu, '')).not.toMatch(/[[\]<>|`\\]/);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('leaves out what nobody sees and keeps what scripts and emoji need', () => {
    const tags = String.fromCodePoint(0xe0069, 0xe0067, 0xe006e);
    expect(inertText(`a\u202Eb\u200Bc${tags}d`)).toBe('abcd');
    expect(inertText('👨‍👩‍👧 می‌خواهم')).toBe('👨‍👩‍👧 می‌خواهم');
  });

  it.each(['# x', '- x', '> x', '* x', '+ x', '1. x', '12) x', '=== x', '~~~ x', '_x'])(
    'at the start of a line does not open a block: %s',
    (content) => {
      const rule = { ...plainFact, content, maturity: 'proven', scope: 'global' } as unknown as Rule;
      expect(lineOf({ type: 'rule', row: rule }, now)).toMatch(/^- \d*\\./);
    },
  );
});
