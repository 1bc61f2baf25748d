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

  it('are left for GraphQL to judge where a value has the wrong shape', () => {
    expect(toVariables(paintWall, { first_spot: 'left', more_spots: { from_left: 1 }, other_colours: 5 })).toEqual({
      input: { firstSpot: 'left', moreSpots: { from_left: 1 }, otherColours: 5 },
    });
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
