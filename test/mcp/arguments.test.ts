import { describe, expect, it } from 'vitest';
import { toVariables } from '../../src/mcp/arguments.ts';
import { paintOf, paintWall, readPaintOperation } from './paint.ts';

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

    expect(toVariables(paintWall, { free_form: freeForm, first_spot: { free_form: freeForm } })).toEqual({
      input: { freeForm, firstSpot: { freeForm } },
    });
  });

  it('are understood where a list, an object, a number or a flag was sent as text', () => {
    const given = {
      other_colours: '["red"]',
      first_spot: '{"from_left": "0.5", "nick_names": "[\\"7\\"]", "free_form": "{\\"a\\": \\"1\\"}"}',
      more_spots: '[{"from_left": 1}]',
      coat_count: '-7',
      is_dry: 'false',
      wall_id: '12',
    };

    expect(toVariables(paintWall, given)).toEqual({
      input: {
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
    ['a number', { coat_count: ' 7' }],
    ['a number', { coat_count: '0x7' }],
    ['a number', { coat_count: '07' }],
    ['a number', { coat_count: '' }],
    ['a number', { coat_count: 'NaN' }],
    ['a number', { coat_count: '9'.repeat(400) }],
    ['a flag', { is_dry: 'True' }],
    ['a flag', { is_dry: '1' }],
  ])('stay text where that is not exactly %s, for GraphQL to refuse: %j', (_, given) => {
    const [value] = Object.values(given);

    expect(Object.values(toVariables(paintWall, given)['input'] as object)).toEqual([value]);
  });

  it.each([
    ['plain text for a list', { other_colours: 'red' }, 'other_colours: a list; given "red"', '["red"]'],
    ['an object for a list', { more_spots: { from_left: 1 } }, 'more_spots: a list', '[{"from_left":0.5}]'],
    ['the text of an object for a list', { more_spots: '{"from_left": 1}' }, 'more_spots: a list', '[{"from_left"'],
    ['the text of null for a list', { other_colours: 'null' }, 'other_colours: a list; given "null"', '["red"]'],
    ['a number for a list', { other_colours: 5 }, 'other_colours: a list; given 5', '["red"]'],
    ['plain text for an object', { first_spot: 'left' }, 'first_spot: an object; given "left"', '{"from_left":0.5}'],
    ['a list for an object', { first_spot: [] }, 'first_spot: an object; given []', '{"from_left":0.5}'],
    ['plain text for a free-form object', { free_form: 'x' }, 'free_form: an object', '{"key":"value"}'],
    ['the text of a list for a free-form object', { free_form: '[]' }, 'free_form: an object', '{"key":"value"}'],
    ['plain text inside', { more_spots: [{ nick_names: 'a' }] }, 'more_spots[0].nick_names: a list', '["text"]'],
  ])('are refused with %s, and the hint shows the right form', (_, given, message, example) => {
    expect(() => toVariables(paintWall, given)).toThrow(
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
    ['an unknown one', { colour: 'red' }, /^argument: one of main_colour, .*free_form; given "colour"$/],
    ['one under its inner name', { mainColour: 'red' }, /given "mainColour"$/],
    [
      'an unknown one of a nested object',
      { first_spot: { left: 1 } },
      /one of from_left, nick_names, free_form; given "left"$/,
    ],
    ['one that every object has', { constructor: 1 }, /given "constructor"$/],
    ['one that sets a prototype', JSON.parse('{"__proto__":{"a":1}}') as object, /given "__proto__"$/],
  ])('are refused with %s', (_, given, message) => {
    expect(() => toVariables(paintWall, given as Record<string, unknown>)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringMatching(message) as string }) as Error,
    );
  });

  it('are refused where there are none', () => {
    const operation = readPaintOperation('{ paintOf(wallId: "a") { wallId } }');

    expect(toVariables(operation, {})).toEqual({});
    expect(() => toVariables(operation, { wall_id: 'a' })).toThrow(
      'argument: none, as there are none; given "wall_id"',
    );
  });
});
