import { expect, it } from 'vitest';
import { toSnakeCase } from '../../src/shared/names.ts';

it.each([
  ['id', 'id'],
  ['sessionId', 'session_id'],
  ['lastConfirmedAt', 'last_confirmed_at'],
  ['already_snake', 'already_snake'],
  ['asOf', 'as_of'],
  ['', ''],
])('%j is %j to the caller of a tool', (inside, outside) => {
  expect(toSnakeCase(inside)).toBe(outside);
});
