import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readOperation } from '../../src/mcp/operation.ts';
import { toToolResult } from '../../src/mcp/result.ts';
import { paintSchema, paintWall, readPaintOperation } from './paint.ts';

describe('the result of a tool', () => {
  it('has its names in snake case, aliases among them, and free-form values as they are', () => {
    const freeForm = { someKey: { otherKey: 1 } };
    const value = { id: 'a', mainColour: 'red', freeForm, allCoats: [{ coatNumber: 1 }, { coatNumber: 2 }] };

    expect(toToolResult(paintSchema, paintWall.fieldNode, paintWall.field, value)).toEqual({
      id: 'a',
      main_colour: 'red',
      free_form: freeForm,
      all_coats: [{ coat_number: 1 }, { coat_number: 2 }],
    });
  });

  it('keeps null where there is nothing', () => {
    const { fieldNode, field } = readPaintOperation(
      '{ paintOf(wallId: "a") { mainColour allCoats { coatNumber coatBelow { coatNumber } } } }',
    );

    expect(toToolResult(paintSchema, fieldNode, field, null)).toBeNull();
    const value = {
      mainColour: null,
      allCoats: [
        { coatNumber: 2, coatBelow: { coatNumber: 1 } },
        { coatNumber: 1, coatBelow: null },
      ],
    };
    expect(toToolResult(paintSchema, fieldNode, field, value)).toEqual({
      main_colour: null,
      all_coats: [
        { coat_number: 2, coat_below: { coat_number: 1 } },
        { coat_number: 1, coat_below: null },
      ],
    });
  });

  it('has the fields of the type that it turned out to be', () => {
    const schema = buildSchema(`
      interface Thing { thingName: String! }
      type Lamp implements Thing { thingName: String! isLit: Boolean! }
      type Chair implements Thing { thingName: String! legCount: Int! }
      type Query { thing: Thing }
    `);
    const operation = '{ thing { __typename thingName ... on Lamp { isLit } ... on Chair { legCount } } }';
    const { fieldNode, field } = readOperation(schema, {
      name: 'memory_thing',
      title: 'Thing',
      operation,
      annotations: {},
      describe: () => '',
    });

    const chair = { __typename: 'Chair', thingName: 'Bertha', legCount: 3 };
    expect(toToolResult(schema, fieldNode, field, chair)).toEqual({ thing_name: 'Bertha', leg_count: 3 });
  });
});
