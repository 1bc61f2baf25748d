import { expect, it } from 'vitest';
import { patternSource } from '../../src/encryption/predicate-patterns.ts';

const matches = (patterns: string[], key: string): boolean =>
  new RegExp(patternSource(patterns) ?? 'never^', 'su').test(key);

it.each([
  [['medical_*'], 'medical_', true],
  [['medical_*'], 'medical_history_of_mother', true],
  [['medical_*'], 'medical', false],
  [['medical_*'], 'paramedical_x', false],
  [['salary'], 'salary', true],
  [['salary'], 'salary_2', false],
  [['*_number'], 'passport_number', true],
  [['pin_?'], 'pin_1', true],
  [['pin_?'], 'pin_12', false],
  [['a.b', 'c+(d)|[e]{f}^$\\'], 'axb', false],
  [['a.b', 'c+(d)|[e]{f}^$\\'], 'a.b', true],
  [['a.b', 'c+(d)|[e]{f}^$\\'], 'c+(d)|[e]{f}^$\\', true],
  [['*'], 'anything', true],
])('%j against %s is %s', (patterns, key, expected) => {
  expect(matches(patterns, key)).toBe(expected);
});

it('is null for no patterns', () => {
  expect(patternSource([])).toBeNull();
});
