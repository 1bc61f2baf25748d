import { describe, expect, it } from 'vitest';
import { toToolResult } from '../../src/mcp/result.ts';
import { paintWall, readPaintOperation } from './paint.ts';

describe('the result of a tool', () => {
  it('has its names in snake case, aliases among them, and free-form values as they are', () => {
    const freeForm = { someKey: { otherKey: 1 } };
    const value = { id: 'a', mainColour: 'red', freeForm, allCoats: [{ coatNumber: 1 }, { coatNumber: 2 }] };

    expect(toToolResult(paintWall.fieldNode, paintWall.field, value)).toEqual({
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

    expect(toToolResult(fieldNode, field, null)).toBeNull();
    const value = {
      mainColour: null,
      allCoats: [
        { coatNumber: 2, coatBelow: { coatNumber: 1 } },
        { coatNumber: 1, coatBelow: null },
      ],
    };
    expect(toToolResult(fieldNode, field, value)).toEqual({
      main_colour: null,
      all_coats: [
        { coat_number: 2, coat_below: { coat_number: 1 } },
        { coat_number: 1, coat_below: null },
      ],
    });
  });
});
