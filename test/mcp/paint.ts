import { buildSchema } from 'graphql';
import { readOperation, type Operation } from '../../src/mcp/bridge/operation.ts';

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
    wallIds: [UUID!]!
    allPaints: [Paint!]!
  }

  enum ProblemCode { NOT_FOUND CONFLICT }

  interface Problem {
    code: ProblemCode!
    message: String!
    hint: String
  }

  type NotFound implements Problem {
    code: ProblemCode!
    message: String!
    hint: String
  }

  type Conflict implements Problem {
    code: ProblemCode!
    message: String!
    hint: String
    otherWallId: UUID!
  }

  type StripPayload {
    "The paint that came off."
    paint: Paint!
    coatsLeft: Int!
    allPaints: [Paint!]!
  }

  union StripResult = StripPayload | NotFound | Conflict

  type Mutation {
    "Paints a wall."
    paintWall(input: PaintInput!): Paint!
    "Takes the paint off a wall."
    stripWall(wallId: UUID!): StripResult!
  }
`);

export function readPaintOperation(operation: string): Operation {
  return readOperation(paintSchema, { name: 'memory_paint', operation });
}

export const paintWall = readPaintOperation(
  'mutation ($input: PaintInput!) { paintWall(input: $input) { id: wallId mainColour freeForm allCoats { coatNumber } } }',
);

export const paintOf = readPaintOperation(
  'query ($wallId: UUID!, $maxCoats: Int) { paintOf(wallId: $wallId, maxCoats: $maxCoats) { wallId } }',
);

/** Takes the paint off, with these fields of the payload asked for. */
export function stripWall(payload: string): Operation {
  return readPaintOperation(
    `mutation ($wallId: UUID!) { stripWall(wallId: $wallId) {
      ... on StripPayload { ${payload} } ... on Problem { code message hint } } }`,
  );
}
