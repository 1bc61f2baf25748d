import { describe, expect, it } from 'vitest';
import {
  isFormer,
  readNote,
  saysOutdated as saysOutdatedOf,
  type SaidNote,
} from '../../../src/memory/outdated/outdated-notes.ts';
import { withSigns, type OutdatedFact } from '../../../src/memory/outdated/says.ts';

interface EndedFact extends OutdatedFact {
  endedAt: number | null;
}

const saysOutdated = (one: SaidNote, ended: EndedFact): boolean => saysOutdatedOf(readNote(one), withSigns(ended));
const said = new Date('2026-03-01T12:00:00Z');
const later = said.getTime() + 86_400_000;

const note = (content: string, subject = 'user'): SaidNote => ({
  subject,
  predicate: 'note_0123456789abcdef',
  content,
  observedAt: said,
  createdAt: said,
});
const fact = (subject: string, predicate: string, content: string, ...current: string[]): EndedFact => ({
  id: '0',
  subject,
  predicate,
  content,
  current,
  endedAt: later,
});

describe('a note', () => {
  it('says what was superseded since, of the same subject or of one that it names', () => {
    const moved = fact('user', 'lives_in', 'Bergen', 'Tromsø');
    expect(saysOutdated(note('User lives in Bergen'), moved)).toBe(true);
    expect(saysOutdated(note("User's sister Inga lives in Bergen", 'Inga'), moved)).toBe(false);
    expect(saysOutdated(note('User lives in Bergen'), fact('Inga', 'lives_in', 'Bergen', 'Tromsø'))).toBe(false);
    expect(saysOutdated(note('Inga lives in Bergen', 'note'), fact('Inga', 'lives_in', 'Bergen', 'Tromsø'))).toBe(true);
  });

  it('says what was superseded of something that it does not name, by a number or by several words', () => {
    const budget = fact('office', 'budget', 'The budget for chairs is 9000', 'The budget for chairs is 7000');
    expect(saysOutdated(note('User has a budget of 9000 for chairs'), budget)).toBe(true);
    expect(saysOutdated(note('User has a budget of 8000 for tables'), budget)).toBe(false);
  });

  it('is news when it was said after the fact had ended', () => {
    const moved = { ...fact('user', 'lives_in', 'Bergen', 'Tromsø'), endedAt: said.getTime() - 1 };
    expect(saysOutdated(note('User lives in Bergen'), moved)).toBe(false);
  });

  it('stays when a note that only looks like it was forgotten', () => {
    const forgotten = { ...fact('note', 'note_0123456789abcdef', 'The code of the red locker is 3141') };
    expect(saysOutdated(note('The code of the blue locker is 2718', 'note'), forgotten)).toBe(false);
    expect(saysOutdated(note('The code of the red locker is 3141', 'note'), forgotten)).toBe(true);
  });

  it('gives what was before where another fact gives what holds', () => {
    const fair = { subject: 'spring fair', predicate: 'opening_day', content: 'Saturday 9 May' };
    const before = note('The original opening day of the fair was Sunday');
    expect(isFormer(before, [before, fair])).toBe(true);
    expect(isFormer(before, [before])).toBe(false);
    expect(isFormer(note('User used to row at the lake club'), [fair])).toBe(false);
    expect(isFormer(note('The opening day of the fair is Sunday'), [fair])).toBe(false);
  });
});
