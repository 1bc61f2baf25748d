import { expect, it } from 'vitest';
import { sanitiseReason } from '../../../src/lifecycle/consolidation/sanitise-reason.ts';

it.each([
  ['connect to https://user:pass@api.example.com/v1?key=abc failed', 'connect to [address] failed'],
  ['postgres://butler:hunter2@db:5432/memory refused', '[address] refused'],
  ['Authorization: Bearer abcdef123456 was refused', '[secret] was refused'],
  ['Incorrect API key: sk-proj-12345678abcdef', 'Incorrect [secret]'],
  ['wrong key sk-ant-REDACTED', 'wrong key [secret]'],
  ['password=hunter2 is wrong', '[secret] is wrong'],
  ['cannot read /home/ada/.config/butler/key.pem now', 'cannot read [path] now'],
  ['cannot read C:\\Users\\ada\\key.pem', 'cannot read [path]'],
  ['syntax error: SELECT * FROM episodes WHERE id = 1', 'syntax error: [statement]'],
  ['two\nlines\tand  blanks', 'two lines and blanks'],
  ['the model answered 503', 'the model answered 503'],
  ['  ', 'no reason was given'],
])('%s', (reason, clean) => {
  expect(sanitiseReason(reason)).toBe(clean);
});

it('keeps nothing of an episode', () => {
  const text = 'My doctor says that the tests were\nall positive, sadly.';
  expect(sanitiseReason('unexpected token at "the tests were all positive"', [text])).toBe(
    'unexpected token at "[text]"',
  );
  expect(sanitiseReason('unexpected token at "tea"', [text, 'tea'])).toBe('unexpected token at "tea"');
  expect(sanitiseReason('bad: [text]', ['[text]'])).toBe('bad: [text]');
});

it('is short', () => {
  expect(sanitiseReason('so '.repeat(1000)).length).toBeLessThanOrEqual(301);
});
