import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readOperation } from '../../src/mcp/bridge/operation.ts';
import { buildOutputSchema } from '../../src/mcp/bridge/json-schema.ts';
import { requestContextSchema } from '../../src/mcp/bridge/request-context.ts';
import { paintSchema, paintWall, readPaintOperation, stripWall } from './paint.ts';

const request_context = requestContextSchema;

describe('the output schema of a tool', () => {
  it('has what was asked for under the names of the result, and null where there may be nothing', () => {
    expect(buildOutputSchema(paintSchema, paintWall)).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        main_colour: { type: ['string', 'null'], enum: ['red', 'dark_green', null] },
        free_form: { type: ['object', 'null'] },
        all_coats: {
          type: 'array',
          items: {
            type: 'object',
            properties: { coat_number: { type: 'integer' } },
            required: ['coat_number'],
          },
        },
        request_context,
      },
      required: ['id', 'main_colour', 'free_form', 'all_coats'],
    });
  });

  it('tells that an object may be missing', () => {
    const operation = readPaintOperation('{ paintOf(wallId: "a") { allCoats { coatBelow { coatNumber } } } }');

    expect(buildOutputSchema(paintSchema, operation)).toMatchObject({
      properties: { all_coats: { items: { properties: { coat_below: { type: ['object', 'null'] } } } } },
    });
  });

  it('is that of the one object of a payload, without the problems', () => {
    expect(buildOutputSchema(paintSchema, stripWall('paint { wallId }'))).toEqual({
      type: 'object',
      properties: { wall_id: { type: 'string' }, request_context },
      required: ['wall_id'],
    });
    expect(buildOutputSchema(paintSchema, stripWall('coatsLeft'))).toMatchObject({ required: ['coats_left'] });
  });

  it('requires of several types only what all of them have', () => {
    const schema = buildSchema(`
      scalar DateTime
      type Lamp { name: String! isLit: Boolean! madeOn: DateTime! }
      type Chair { name: String! legCount: Int! madeOn: Int! }
      union Thing = Lamp | Chair
      type Query { thing: Thing! }
    `);
    const operation = readOperation(schema, {
      name: 'memory_thing',
      operation: '{ thing { ... on Lamp { name isLit madeOn } ... on Chair { name legCount year: madeOn } } }',
    });

    expect(buildOutputSchema(schema, operation)).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string' },
        is_lit: { type: 'boolean' },
        made_on: { type: 'string', format: 'date-time' },
        leg_count: { type: 'integer' },
        year: { type: 'integer' },
        request_context,
      },
      required: ['name'],
    });
  });

  it('allows each of the objects that a field holds in several types', () => {
    const schema = buildSchema(`
      type Part { weight: Int! width: Int! }
      type Lamp { part: Part! }
      type Chair { part: Part! }
      union Thing = Lamp | Chair
      type Query { thing: Thing! }
    `);
    const operation = readOperation(schema, {
      name: 'memory_thing',
      operation: '{ thing { ... on Lamp { part { weight } } ... on Chair { part { width } } } }',
    });

    expect(buildOutputSchema(schema, operation)).toMatchObject({
      properties: { part: { anyOf: [{ required: ['weight'] }, { required: ['width'] }] } },
      required: ['part'],
    });
  });
});
