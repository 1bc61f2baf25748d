import { buildSchema } from 'graphql';
import { readOperation, type Operation } from '../../src/mcp/operation.ts';

/** A schema that has every kind of input and output in little. */
export const paintSchema = buildSchema(`
  scalar JSONObject
  scalar DateTime
  scalar UUID

  enum Colour { red dark_green }

  "A spot on the wall."
  input SpotInput {
    "How far from the left."
    fromLeft: Float!
    "What it is called."
    nickNames: [String!]
    "Anything."
    freeForm: JSONObject
  }

  input PaintInput {
    "The main colour."
    mainColour: Colour!
    "Other colours."
    otherColours: [Colour!]
    "Where."
    firstSpot: SpotInput
    "And where else."
    moreSpots: [SpotInput!]!
    "How many coats."
    coatCount: Int! = 2
    "Whether it is dry."
    isDry: Boolean
    "When."
    paintedAt: DateTime
    "Which wall."
    wallId: UUID
    "Anything."
    freeForm: JSONObject
  }

  type Coat {
    coatNumber: Int!
    coatBelow: Coat
  }

  type Paint {
    wallId: UUID!
    mainColour: Colour
    freeForm: JSONObject
    allCoats: [Coat!]!
  }

  type Query {
    "The paint of a wall."
    paintOf(
      "Which wall."
      wallId: UUID!
      "How many coats at most."
      maxCoats: Int
    ): Paint
  }

  type Mutation {
    "Paints a wall."
    paintWall(input: PaintInput!): Paint!
  }
`);

export function readPaintOperation(text: string): Operation {
  return readOperation(paintSchema, {
    name: 'memory_paint',
    title: 'Paint',
    operation: text,
    annotations: {},
    describe: () => '',
  });
}

export const paintWall = readPaintOperation(
  'mutation ($input: PaintInput!) { paintWall(input: $input) { id: wallId mainColour freeForm allCoats { coatNumber } } }',
);

export const paintOf = readPaintOperation(
  'query ($wallId: UUID!, $maxCoats: Int) { paintOf(wallId: $wallId, maxCoats: $maxCoats) { wallId } }',
);
