import { expect, it } from 'vitest';
import { hasWords } from '../../src/memory/text.ts';

it.each([
  ['is there tea?', 'Tea', true],
  ['the teapot', 'tea', false],
  ['steal it', 'tea', false],
  ['tea', 'tea', true],
  ['call Alice', 'Al', false],
  ["Al's cup", 'Al', true],
  ['l’école de Nicole', 'cole', false],
  ['ÉMILE came', 'Émile', true],
  ['learn c++ now', 'C++', true],
  ['(a.c)', 'a.c', true],
  ['(abc)', 'a.c', false],
  ['user_tea', 'tea', false],
  ['喝茶吗', '茶', true],
  ['ชาเย็น', 'ชา', true],
  ['anything', ' ', false],
])('%j has the words %j: %j', (text, words, expected) => {
  expect(hasWords(text, words)).toBe(expected);
});
