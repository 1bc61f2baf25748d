import { GraphQLError, Kind } from 'graphql';
import { describe, expect, it } from 'vitest';
import { dateTime } from '../../src/graphql/date-time.ts';

describe('a moment in a request', () => {
  it.each([
    ['a day', '2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['a time without seconds', '2026-01-31T12:30Z', '2026-01-31T12:30:00.000Z'],
    ['a time without a zone', '2026-01-31T12:30:15', '2026-01-31T12:30:15.000Z'],
    ['a time after a space', '2026-01-31 12:30', '2026-01-31T12:30:00.000Z'],
    ['a time of another zone', '2026-01-31T12:30:00+02:00', '2026-01-31T10:30:00.000Z'],
    ['a whole time', '2026-01-31T12:30:15.250Z', '2026-01-31T12:30:15.250Z'],
  ])('may be %s, in a variable and in the document', (_, text, expected) => {
    expect(dateTime.parseValue(text).toISOString()).toBe(expected);
    expect(dateTime.parseLiteral({ kind: Kind.STRING, value: text }, {}).toISOString()).toBe(expected);
  });

  it.each(['', 'yesterday', '2026', '2026-01', '2026-02-30', '2026-13-01', '2026-01-31T25:00', '31.01.2026', 7])(
    'may not be %j',
    (given) => {
      expect(() => dateTime.parseValue(given)).toThrow(GraphQLError);
    },
  );

  it('is written in UTC', () => {
    expect(dateTime.serialize(new Date('2026-01-31T12:30:00+02:00'))).toEqual(new Date('2026-01-31T10:30:00Z'));
  });
});
