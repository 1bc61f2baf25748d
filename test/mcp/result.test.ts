import { buildSchema, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readOperation } from '../../src/mcp/bridge/operation.ts';
import { toToolResult } from '../../src/mcp/bridge/result.ts';
import { paintSchema, paintWall, readPaintOperation, stripWall } from './paint.ts';

describe('the result of a tool', () => {
  it('has its names in snake case, aliases among them, and free-form values as they are', () => {
    const freeForm = { someKey: { otherKey: 1 } };
    const value = { id: 'a', mainColour: 'red', freeForm, allCoats: [{ coatNumber: 1 }, { coatNumber: 2 }] };

    expect(toToolResult(paintSchema, paintWall, value)).toEqual({
      id: 'a',
      main_colour: 'red',
      free_form: freeForm,
      all_coats: [{ coat_number: 1 }, { coat_number: 2 }],
    });
  });

  it('keeps null where there is nothing', () => {
    const operation = readPaintOperation(
      '{ paintOf(wallId: "a") { mainColour allCoats { coatNumber coatBelow { coatNumber } } } }',
    );

    expect(toToolResult(paintSchema, operation, null)).toBeNull();
    const value = {
      mainColour: null,
      allCoats: [
        { coatNumber: 2, coatBelow: { coatNumber: 1 } },
        { coatNumber: 1, coatBelow: null },
      ],
    };
    expect(toToolResult(paintSchema, operation, value)).toEqual({
      main_colour: null,
      all_coats: [
        { coat_number: 2, coat_below: { coat_number: 1 } },
        { coat_number: 1, coat_below: null },
      ],
    });
  });

  it('has the fields of the type that it turned out to be, those of its interfaces and unions among them', () => {
    const schema = buildSchema(`
      interface Thing { thingName: String! }
      interface Seat implements Thing { thingName: String! seatCount: Int! }
      type Lamp implements Thing { thingName: String! isLit: Boolean! }
      type Chair implements Thing & Seat { thingName: String! seatCount: Int! legCount: Int! }
      union Furniture = Lamp | Chair
      type Query { thing: Furniture }
    `);
    const operation = readOperation(schema, {
      name: 'memory_thing',
      operation:
        '{ thing { ... on Thing { thingName } ... on Seat { seatCount } ... on Lamp { isLit } ... on Chair { legCount } } }',
    });

    const chair = { __typename: 'Chair', thingName: 'Bertha', seatCount: 1, legCount: 3 };
    expect(toToolResult(schema, operation, chair)).toEqual({ thing_name: 'Bertha', seat_count: 1, leg_count: 3 });
    const lamp = { __typename: 'Lamp', thingName: 'Otto', isLit: true };
    expect(toToolResult(schema, operation, lamp)).toEqual({ thing_name: 'Otto', is_lit: true });
    expect(print(operation.document)).toContain('__typename');
  });

  it('is what the payload holds, if one object of it was asked for', () => {
    const value = { __typename: 'StripPayload', paint: { wallId: 'a', mainColour: null } };

    expect(toToolResult(paintSchema, stripWall('paint { wallId mainColour }'), value)).toEqual({
      wall_id: 'a',
      main_colour: null,
    });
  });

  it.each([
    ['several fields were asked for', 'paint { wallId } coatsLeft', { paint: { wall_id: 'a' }, coats_left: 2 }],
    ['the one field is a number', 'coatsLeft', { coats_left: 2 }],
    ['the one field is a list', 'allPaints { wallId }', { all_paints: [{ wall_id: 'a' }] }],
  ])('is the payload, if %s', (_, asked, expected) => {
    const value = { __typename: 'StripPayload', paint: { wallId: 'a' }, coatsLeft: 2, allPaints: [{ wallId: 'a' }] };

    expect(toToolResult(paintSchema, stripWall(asked), value)).toEqual(expected);
  });

  it.each([
    ['without a hint', null, undefined],
    ['with a hint', 'Ask for the walls first.', 'Ask for the walls first.'],
  ])('is an error, if the operation answers with a problem %s', (_, hint, expected) => {
    const value = { __typename: 'Conflict', code: 'CONFLICT', message: 'the wall is gone', hint };

    expect(() => toToolResult(paintSchema, stripWall('coatsLeft'), value)).toThrow(
      expect.objectContaining({ code: 'CONFLICT', message: 'the wall is gone', hint: expected }) as Error,
    );
  });
});
