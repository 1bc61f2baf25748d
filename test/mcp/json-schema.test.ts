import { describe, expect, it } from 'vitest';
import { buildInputSchema } from '../../src/mcp/bridge/json-schema.ts';
import { requestContextSchema } from '../../src/mcp/bridge/request-context.ts';
import { paintOf, paintWall, readPaintOperation } from './paint.ts';

const spot = {
  type: 'object',
  properties: {
    from_left: { type: 'number', description: 'How far from the left.' },
    nick_names: { type: 'array', items: { type: 'string' }, description: 'What it is called.' },
    free_form: { type: 'object', description: 'Anything.' },
  },
  required: ['from_left'],
  additionalProperties: false,
};

describe('the input schema of a tool', () => {
  it('has the fields of the one input object, with enums, lists and nested objects', () => {
    expect(buildInputSchema(paintWall)).toEqual({
      type: 'object',
      properties: {
        main_colour: { type: 'string', enum: ['red', 'dark_green'], description: 'The main colour.' },
        other_colours: {
          type: 'array',
          items: { type: 'string', enum: ['red', 'dark_green'] },
          description: 'Other colours.',
        },
        first_spot: { ...spot, description: 'Where.' },
        more_spots: { type: 'array', items: spot, description: 'And where else.' },
        coat_count: { type: 'integer', description: 'How many coats.' },
        is_dry: { type: 'boolean', description: 'Whether it is dry.' },
        painted_at: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d', description: 'When.' },
        wall_id: { type: 'string', description: 'Which wall.' },
        free_form: { type: 'object', description: 'Anything.' },
        request_context: requestContextSchema,
      },
      required: ['main_colour', 'more_spots'],
      additionalProperties: false,
    });
  });

  it('has the variables where there is no input object, described as the arguments of the field', () => {
    expect(buildInputSchema(paintOf)).toEqual({
      type: 'object',
      properties: {
        wall_id: { type: 'string', description: 'Which wall.' },
        max_coats: { type: 'integer', description: 'How many coats at most.' },
        request_context: requestContextSchema,
      },
      required: ['wall_id'],
      additionalProperties: false,
    });
  });

  it('does not require what has a default', () => {
    const operation = readPaintOperation('query ($wallId: UUID! = "x") { paintOf(wallId: $wallId) { wallId } }');

    expect(buildInputSchema(operation).required).toEqual([]);
  });
});
