import { describe, expect, it } from 'vitest';
import type { Known } from '../../../src/lifecycle/consolidation/engines/patterns/known.ts';
import type { Relative } from '../../../src/lifecycle/consolidation/engines/patterns/relatives.ts';
import {
  findCertain,
  findRepeated,
  listChanged,
} from '../../../src/lifecycle/consolidation/engines/patterns/replacement.ts';
import { topicOf } from '../../../src/lifecycle/consolidation/engines/patterns/topic.ts';

const at = new Date('2026-05-04T18:00:00Z');

function relative(content: string, changes: number, values: Partial<Known> = {}): Relative {
  const key = { subject: 'user', predicate: 'note_0123456789abcdef', content, topic: topicOf('user', content, null) };
  const state = { since: new Date(0), replacedAt: null, isStored: true, isOfAgent: true };
  return { known: { type: 'fact', id: content, scope: 'global', ...key, ...state, ...values }, changes, repeats: 0 };
}

function said(content: string): ReturnType<typeof topicOf> {
  return topicOf('user', content, null);
}

describe('what a statement replaces', () => {
  it('is the whole of a fact', () => {
    const known = relative('Doña Chayo comes for 450 pesos a visit', 0.8);

    expect(findCertain([known], said('Doña Chayo gets 520 pesos a visit now'))).toBe(known);
  });

  it('is not a fact that also says a day, of which it says nothing', () => {
    const known = relative('Doña Chayo comes on Mondays for 450 pesos a visit', 0.8);

    expect(findCertain([known], said('Doña Chayo gets 520 pesos a visit now'))).toBeUndefined();
  });

  it('must be likelier where only a name is common to both, and for a second fact', () => {
    const matter = relative('The lessons with Ottilie are on Mondays', 0.4);
    const person = relative('User lives with Ottilie', 0.4);
    const other = relative('The lessons are in the hall', 0.4);
    const statement = said('The lessons with Ottilie are on Fridays');

    expect(listChanged([matter], statement, at)).toEqual([matter]);
    expect(listChanged([person], statement, at)).toEqual([]);
    expect(listChanged([matter, other], statement, at)).toEqual([matter]);
  });
});

describe('what a statement repeats', () => {
  const hourBefore = new Date(at.getTime() - 3_600_000);
  const statement = said('User pays the rent of the flat to an agent');

  it('is what an agent stored of the same matter in its session', () => {
    const known = relative('Rent of the flat: to the agent', 0.8, { since: hourBefore });

    expect(findRepeated([known], statement, at)).toBe(known);
  });

  it.each([
    ['of another day', 'Rent of the flat: to the agent', { since: new Date(at.getTime() - 86_400_000) }],
    ['of consolidation', 'Rent of the flat: to the agent', { since: hourBefore, isOfAgent: false }],
    ['with another end', 'Rent of the flat: cancelled', { since: hourBefore }],
  ])('is nothing %s', (_name, content, values) => {
    expect(findRepeated([relative(content, 0.8, values)], statement, at)).toBeUndefined();
  });
});
