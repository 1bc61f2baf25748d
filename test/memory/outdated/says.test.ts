import { describe, expect, it } from 'vitest';
import { leaveOut } from '../../../src/memory/spans.ts';
import {
  findFormerValues as findFormerIn,
  findSayings as findSayingsIn,
  readText,
  withSigns,
  withValues,
  type CurrentFact,
  type OutdatedFact,
} from '../../../src/memory/outdated/says.ts';
import { isEmptySpeech, splitSentences } from '../../../src/memory/outdated/sentences.ts';

const findSayings = (text: string, outdated: OutdatedFact): ReturnType<typeof findSayingsIn> =>
  findSayingsIn(readText(text), withSigns(outdated));
const findFormerValues = (text: string, current: CurrentFact): ReturnType<typeof findFormerIn> =>
  findFormerIn(readText(text), withValues(current));
const texts = (sentences: readonly { text: string }[]): string[] => sentences.map(({ text }) => text);

function fact(subject: string, predicate: string, content: string, ...current: string[]): OutdatedFact {
  return { id: '0', subject, predicate, content, current };
}

describe('sentences that say an outdated fact', () => {
  it('are those with the old value that are about the same', () => {
    const moved = fact('user', 'lives_in', 'Bergen', 'Tromsø');
    expect(texts(findSayings('I live in Bergen. The cat is fine.', moved))).toEqual(['I live in Bergen.']);
    expect(findSayings('Flying to Bergen on Friday for the fair.', moved)).toEqual([]);
  });

  it('are found by the words in which the old value differs from the present one', () => {
    const rent = fact('flat', 'rent', 'The rent of the flat is 1,200 a month', 'The rent of the flat is 1350 a month');
    expect(texts(findSayings('We pay 1200 for the flat. The flat is warm.', rent))).toHaveLength(2);
    expect(findSayings('The rent of the flat is 1350 a month.', rent)).toEqual([]);
  });

  it('are none that give another number', () => {
    const forgotten = fact('note', 'note_0123456789abcdef', 'The code of the red locker is 3141');
    expect(findSayings('The code of the blue locker is 2718.', forgotten)).toEqual([]);
    expect(texts(findSayings('My red locker has the code 3141.', forgotten))).toHaveLength(1);
  });

  it('take along what follows and refers to them', () => {
    const order = fact('office', 'chairs', 'Order of twelve chairs is placed', 'Order of chairs was withdrawn');
    expect(
      texts(findSayings('user: The order of twelve chairs is placed. Pay it today. Lunch was good.', order)),
    ).toEqual(['The order of twelve chairs is placed.', 'Pay it today.']);
  });

  it('are none where the present value has all of its words', () => {
    expect(findSayings('I drink green tea.', fact('user', 'drinks', 'tea', 'green tea'))).toEqual([]);
  });
});

describe('sentences that give a former value', () => {
  const appointment = { subject: 'dentist', predicate: 'appointment', content: 'Tuesday 4 May' };

  it('are those beside the present value in the same text', () => {
    const text = 'The dentist appointment was on Monday 3 May. It is on Tuesday 4 May now.';
    expect(texts(findFormerValues(text, appointment))).toEqual(['The dentist appointment was on Monday 3 May.']);
  });

  it('are none where the text does not give the present one', () => {
    expect(findFormerValues('The dentist has time on Monday 3 May. Call them.', appointment)).toEqual([]);
  });
});

describe('what is left of a text', () => {
  it('has no sentence of what is left out, and one blank between the others', () => {
    expect(leaveOut('One. Two. Three.', [[5, 9]])).toBe('One. Three.');
    expect(leaveOut('🫖 One. Two.', [[2, 6]])).toBe('🫖 Two.');
  });

  it('is empty when only speakers are left', () => {
    expect(isEmptySpeech('user:\nassistant: ')).toBe(true);
    expect(isEmptySpeech('user: Hello')).toBe(false);
  });

  it('is split at the ends of sentences and lines, not at abbreviations', () => {
    expect(texts(splitSentences('user: Dr. Ek called. Fine!\nbutler: Noted'))).toEqual([
      'Dr. Ek called.',
      'Fine!',
      'Noted',
    ]);
  });
});
