import { describe, expect, it } from 'vitest';
import { describeRequestContext, readRequestContext } from '../../src/mcp/bridge/request-context.ts';

describe('the request context of a tool call', () => {
  it.each([
    ['absent', undefined, null],
    ['null', null, null],
    ['one id', { request_id: 'r-1' }, { requestId: 'r-1', subrequestId: null, segmentId: null }],
    [
      'all ids and more',
      { request_id: 'a', subrequest_id: 'b', segment_id: 'c', trace: { deep: 1 } },
      { requestId: 'a', subrequestId: 'b', segmentId: 'c' },
    ],
    [
      'ids that are null',
      { request_id: 'a', segment_id: null },
      { requestId: 'a', subrequestId: null, segmentId: null },
    ],
    ['JSON text', '{"request_id":"r"}', { requestId: 'r', subrequestId: null, segmentId: null }],
  ])('may be %s', (_, given, expected) => {
    expect(readRequestContext(given, () => true)).toEqual(expected);
  });

  it.each([
    ['no object', 5, /^request_context must be an object \(got 5\)$/],
    ['a list', [], /^request_context must be an object/],
    ['plain text', 'r-1', /^request_context must be an object \(got "r-1"\)$/],
    ['without an id', {}, /^request_context\.request_id must be 1 to 128 letters.*got null\)$/],
    ['an id that is a number', { request_id: 7 }, /request_id.*got 7\)$/],
    ['an empty id', { request_id: '' }, /got ""\)$/],
    ['an id of two lines', { request_id: 'a\nb' }, /got "a\\nb"\)$/],
    ['an id that is too long', { request_id: 'a'.repeat(129) }, /characters\)\)$/],
    ['another id that does not fit', { request_id: 'a', subrequest_id: ' ' }, /^request_context\.subrequest_id/],
    ['a segment that does not fit', { request_id: 'a', segment_id: {} }, /^request_context\.segment_id/],
  ])('may not be %s', (_, given, message) => {
    expect(() => readRequestContext(given, () => true)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(message) as string,
        hint: expect.stringContaining('{"request_id": "your-id"}') as string,
      }) as Error,
    );
  });

  it('may not be what must not be kept, and is not told back then', () => {
    const given = { request_id: 'a', segment_id: 'hunter2' };
    expect(() => readRequestContext(given, (id) => id !== 'hunter2')).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message:
          'request_context.segment_id must be an id that is no password, key, token or personal number (got one, which is not shown)',
      }) as Error,
    );
  });

  it('is told without what is not there', () => {
    expect(describeRequestContext({ requestId: 'a', subrequestId: null, segmentId: 'c' })).toEqual({
      request_id: 'a',
      segment_id: 'c',
    });
  });
});
