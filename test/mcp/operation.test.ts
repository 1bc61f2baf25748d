import { describe, expect, it } from 'vitest';
import { paintOf, paintWall, readPaintOperation } from './paint.ts';

describe('the operation of a tool', () => {
  it('answers under the name that its field has in the answer', () => {
    expect(paintWall.resultName).toBe('paintWall');
    expect(readPaintOperation('{ wall: paintOf(wallId: "a") { wallId } }').resultName).toBe('wall');
  });

  it('says whether its arguments are the fields of one input object', () => {
    expect(paintWall.hasInputObject).toBe(true);
    expect(paintOf.hasInputObject).toBe(false);
  });

  it.each([
    ['does not fit the schema', '{ paintOf(wallId: "a") { colour } }', /operation of memory_paint: .*"colour"/],
    ['has no field on top', '{ ...a } fragment a on Query { paintOf(wallId: "a") { wallId } }', /one top-level field/],
    ['has fragments beside it', '{ paintOf(wallId: "a") { ...a } } fragment a on Paint { wallId }', /must be inline/],
    [
      'does not ask for all of a problem',
      'mutation { stripWall(wallId: "a") { ... on Problem { code message } } }',
      /it must ask for hint of NotFound/,
    ],
    ['does not answer with an object', '{ wallIds }', /its result must be one object/],
    ['answers with a list', '{ allPaints { wallId } }', /its result must be one object/],
  ])('stops the start if it %s', (_, text, message) => {
    expect(() => readPaintOperation(text)).toThrow(message);
  });
});
