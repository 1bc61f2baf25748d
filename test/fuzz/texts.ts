import * as fc from 'fast-check';

/** Texts that break things elsewhere. */
const known = [
  '',
  ' ',
  '\u0000',
  '\uD800',
  'a\uDC00b',
  '\uFFFE\uFDD0',
  '\u202Eabc\u202C',
  'é\u0301'.repeat(20),
  'İıŞß\u1E9EſK',
  '👨‍👩‍👧‍👦🏳️‍🌈',
  '\u2028\u2029\u0085',
  '\u{E0041}\u{E0042}',
  'ﷺ'.repeat(10),
  "'; DROP TABLE facts; --",
  '" OR 1=1 --',
  '$1 $2 %s %n ${x} {{x}}',
  'a & b | !c <-> d:* (e',
  "'a':*A & !!'b' <2> 'c\\'",
  '"unclosed phrase -excluded',
  '-"',
  '""',
  '-- -- -a -b',
  '\\',
  '\\u0000',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-0',
  '1e999',
  '9'.repeat(40),
  '01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a',
  'fact:01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a',
  '2026-02-30T25:61:61Z',
  '-271821-04-20T00:00:00.000Z',
  '{"a":[1,{"b":null}]}',
  '[]',
  '<script>x</script>',
  '(a+)+$',
  'x'.repeat(5000),
  'tea '.repeat(2000),
];

/** Of every kind: what is known to hurt, any characters at all, and both together. */
export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...known) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
      .map((units) => String.fromCharCode(...units)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...known), fc.constantFrom(...known)).map((both) => both.join(' ')),
  },
);

/** The marks of search expressions and of tsquery among a few words. */
export const expressions: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      'tea',
      'user',
      '-',
      '"',
      '“',
      '”',
      ' ',
      ' ',
      '&',
      '|',
      '!',
      '<->',
      ':*',
      '(',
      ')',
      '\\',
      "'",
      ':A',
      '?',
      'TX-4711',
      '-5',
      'a/b/c',
      'é',
      '的',
      '\u0000',
      '*',
      '--',
      '<2>',
      '@',
      'the',
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((parts) => parts.join(''));

export const numbers: fc.Arbitrary<number> = fc.constantFrom(
  0,
  1,
  -1,
  2,
  100,
  101,
  1000,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  0.5,
  1e-320,
  1e308,
  -0,
  5e-324,
  1.7976931348623157e308,
  Number.MAX_SAFE_INTEGER + 2,
  -1e21,
);

/** Keys that mean something to JavaScript, and texts that PostgreSQL refuses, as keys and values at any depth. */
const hostileKeys = ['__proto__', 'constructor', 'prototype', 'toJSON', 'then', '\u0000', '\uD800', '', '$type'];
const { hostileObjects } = fc.letrec<{ hostileObjects: unknown; inner: unknown }>((tie) => ({
  inner: fc.oneof({ depthSize: 'small' }, texts, numbers, fc.constant(null), tie('hostileObjects')),
  hostileObjects: fc
    .array(fc.tuple(fc.constantFrom(...hostileKeys), tie('inner')), { minLength: 1, maxLength: 3 })
    // Not by assignment, which would change the prototype instead.
    .map((entries) => Object.fromEntries(entries) as unknown),
}));

export const jsonObjects = hostileObjects as fc.Arbitrary<Record<string, unknown>>;

export const jsonValues: fc.Arbitrary<unknown> = fc.oneof(
  jsonObjects,
  fc.jsonValue({ maxDepth: 3 }),
  texts,
  numbers,
  fc.constant(null),
  fc.integer({ min: 1, max: 300 }).map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown),
);

/** Something cut out, doubled, put in or turned round: most of it is broken after it. */
export function broken(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const change = fc.record({
    kind: fc.constantFrom('cut', 'double', 'insert', 'truncate', 'swap'),
    from: place,
    to: place,
    piece: fc.oneof(
      texts,
      fc.constantFrom(
        '{',
        '}',
        '(',
        ')',
        '[',
        ']',
        '"',
        '"""',
        '$',
        '@',
        '...',
        ':',
        '=',
        '#',
        ',',
        '\\',
        '\n',
        'null',
      ),
    ),
  });
  return fc.tuple(text, fc.array(change, { minLength: 1, maxLength: 3 })).map(([whole, changes]) =>
    changes.reduce((now, { kind, from, to, piece }) => {
      const [start, end] = [Math.floor(Math.min(from, to) * now.length), Math.floor(Math.max(from, to) * now.length)];
      const [head, middle, tail] = [now.slice(0, start), now.slice(start, end), now.slice(end)];
      if (kind === 'cut') return head + tail;
      if (kind === 'double') return head + middle + middle + tail;
      if (kind === 'insert') return head + piece + middle + tail;
      return kind === 'truncate' ? head : tail + middle + head;
    }, whole),
  );
}
