import { describe, expect, it } from 'vitest';
import { toVariables } from '../../src/mcp/bridge/arguments.ts';
import { paintOf, paintWall, readPaintOperation } from './paint.ts';

/** What PaintInput cannot do without. */
const required = { main_colour: 'red', more_spots: [] };

describe('the arguments of a tool', () => {
  it('become the fields of the input object, down through objects and lists', () => {
    const given = {
      main_colour: 'dark_green',
      other_colours: ['red', 'dark_green'],
      first_spot: { from_left: 0.5, nick_names: ['nick_name'] },
      more_spots: [{ from_left: 1 }, { from_left: 2 }],
      is_dry: null,
    };

    expect(toVariables(paintWall, given)).toEqual({
      input: {
        mainColour: 'dark_green',
        otherColours: ['red', 'dark_green'],
        firstSpot: { fromLeft: 0.5, nickNames: ['nick_name'] },
        moreSpots: [{ fromLeft: 1 }, { fromLeft: 2 }],
        isDry: null,
      },
    });
  });

  it('become the variables where there is no input object', () => {
    expect(toVariables(paintOf, { wall_id: 'a', max_coats: 3 })).toEqual({ wallId: 'a', maxCoats: 3 });
  });

  it('keep the names inside free-form values', () => {
    const freeForm = { some_key: { other_key: [{ third_key: 1 }] }, camelKey: 2, main_colour: 3 };

    expect(
      toVariables(paintWall, { ...required, free_form: freeForm, first_spot: { from_left: 1, free_form: freeForm } }),
    ).toMatchObject({ input: { freeForm, firstSpot: { fromLeft: 1, freeForm } } });
  });

  it('are understood where a list, an object, a number or a flag was sent as text', () => {
    const given = {
      main_colour: 'red',
      other_colours: '["red"]',
      first_spot: '{"from_left": "0.5", "nick_names": "[\\"7\\"]", "free_form": "{\\"a\\": \\"1\\"}"}',
      more_spots: '[{"from_left": 1}]',
      coat_count: '-7',
      is_dry: 'false',
      wall_id: '12',
    };

    expect(toVariables(paintWall, given)).toEqual({
      input: {
        mainColour: 'red',
        otherColours: ['red'],
        firstSpot: { fromLeft: 0.5, nickNames: ['7'], freeForm: { a: '1' } },
        moreSpots: [{ fromLeft: 1 }],
        coatCount: -7,
        isDry: false,
        wallId: '12',
      },
    });
  });

  it.each([
    ['an unknown value', { main_colour: 'blue' }, 'main_colour must be one of red, dark_green (got "blue")'],
    ['another type of value', { main_colour: 1 }, 'main_colour must be one of red, dark_green (got 1)'],
    [
      'an unknown value in a list',
      { other_colours: ['red', 'x'] },
      'other_colours[1] must be one of red, dark_green (got "x")',
    ],
    ['blanks around a number', { coat_count: ' 7' }, 'coat_count must be a whole number of at most 32 bits (got " 7")'],
    ['a number of base 16', { coat_count: '0x7' }, 'coat_count must be a whole number of at most 32 bits (got "0x7")'],
    ['a number with a leading zero', { coat_count: '07' }, 'coat_count must be a whole number'],
    ['blank text for a number', { coat_count: '' }, 'coat_count must be a whole number of at most 32 bits (got "")'],
    ['NaN', { coat_count: 'NaN' }, 'coat_count must be a whole number of at most 32 bits (got "NaN")'],
    ['a number without end', { coat_count: '9'.repeat(400) }, 'coat_count must be a whole number'],
    ['half a number', { coat_count: 1.5 }, 'coat_count must be a whole number of at most 32 bits (got 1.5)'],
    [
      'a number that is too large',
      { first_spot: { from_left: Infinity } },
      'first_spot.from_left must be a number (got Infinity)',
    ],
    ['a flag in capitals', { is_dry: 'True' }, 'is_dry must be true or false (got "True")'],
    ['a number for a flag', { is_dry: 1 }, 'is_dry must be true or false (got 1)'],
    [
      'numbers for text',
      { first_spot: { from_left: 1, nick_names: '[1]' } },
      'first_spot.nick_names[0] must be text (got 1)',
    ],
    ['null for what must be there', { main_colour: null }, 'main_colour must be one of red, dark_green (got null)'],
    ['null for a list', { more_spots: null }, 'more_spots must be a list (got null)'],
    ['null in a list', { other_colours: [null] }, 'other_colours[0] must be one of red, dark_green (got null)'],
    [
      'null where there is a default',
      { coat_count: null },
      'coat_count must be a whole number of at most 32 bits (got null)',
    ],
  ])('are refused with %s: what is allowed, what was given, and where', (_, given, message) => {
    expect(() => toVariables(paintWall, { ...required, ...given })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining(message) as string }) as Error,
    );
  });

  it.each([
    ['all', {}, 'main_colour must be one of red, dark_green (got nothing)', 'Required: main_colour, more_spots.'],
    ['one', { main_colour: 'red' }, 'more_spots must be a list (got nothing)', 'Required: main_colour, more_spots.'],
    [
      'one of a nested object',
      { ...required, more_spots: [{ from_left: 1 }, {}] },
      'more_spots[1].from_left must be a number (got nothing)',
      'Required: from_left.',
    ],
  ])('are refused without what is required: %s', (_, given, message, hint) => {
    expect(() => toVariables(paintWall, given)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message, hint }) as Error,
    );
  });

  it.each([
    ['plain text for a list', { other_colours: 'red' }, 'other_colours must be a list (got "red")', '["red"]'],
    ['an object for a list', { more_spots: { from_left: 1 } }, 'more_spots must be a list', '[{"from_left":0.5}]'],
    [
      'the text of an object for a list',
      { more_spots: '{"from_left": 1}' },
      'more_spots must be a list',
      '[{"from_left"',
    ],
    ['the text of null for a list', { other_colours: 'null' }, 'other_colours must be a list (got "null")', '["red"]'],
    ['a number for a list', { other_colours: 5 }, 'other_colours must be a list (got 5)', '["red"]'],
    [
      'plain text for an object',
      { first_spot: 'left' },
      'first_spot must be an object (got "left")',
      '{"from_left":0.5}',
    ],
    ['a list for an object', { first_spot: [] }, 'first_spot must be an object (got [])', '{"from_left":0.5}'],
    ['plain text for a free-form object', { free_form: 'x' }, 'free_form must be an object', '{"key":"value"}'],
    [
      'the text of a list for a free-form object',
      { free_form: '[]' },
      'free_form must be an object',
      '{"key":"value"}',
    ],
    [
      'plain text inside',
      { more_spots: [{ from_left: 1, nick_names: 'a' }] },
      'more_spots[0].nick_names must be a list',
      '["text"]',
    ],
  ])('are refused with %s, and the hint shows the right form', (_, given, message, example) => {
    expect(() => toVariables(paintWall, { ...required, ...given })).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(message) as string,
        hint: expect.stringContaining(example) as string,
      }) as Error,
    );
  });

  it('leave the context of the request aside', () => {
    expect(toVariables(paintOf, { wall_id: 'a', request_context: { request_id: 'r' } })).toEqual({ wallId: 'a' });
  });

  it.each([
    ['an unknown one', { colour: 'red' }, /^argument must be one of main_colour, .*free_form \(got "colour"\)$/],
    ['one under its inner name', { mainColour: 'red' }, /got "mainColour"\)$/],
    [
      'an unknown one of a nested object',
      { first_spot: { left: 1 } },
      /^argument of first_spot must be one of from_left, nick_names, free_form \(got "left"\)$/,
    ],
    ['one that every object has', { constructor: 1 }, /got "constructor"\)$/],
    ['one that sets a prototype', JSON.parse('{"__proto__":{"a":1}}') as object, /got "__proto__"\)$/],
  ])('are refused with %s', (_, given, message) => {
    expect(() => toVariables(paintWall, { ...required, ...given })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringMatching(message) as string }) as Error,
    );
  });

  it('are refused where there are none', () => {
    const operation = readPaintOperation('{ paintOf(wallId: "a") { wallId } }');

    expect(toVariables(operation, {})).toEqual({});
    expect(() => toVariables(operation, { wall_id: 'a' })).toThrow(
      'argument must be none, as there are none (got "wall_id")',
    );
  });
});
