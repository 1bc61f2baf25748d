import { describe, expect, it } from 'vitest';
import {
  acceptRequestContext,
  currentRequestId,
  newRequestContext,
  withRequestContext,
} from '../../src/shared/request-context.ts';

describe('a request id', () => {
  it('is never one that could break a log line or a header', () => {
    for (const hostile of ['a\nb', 'a\r\nset-cookie: x', 'a\n', '\u0000', 'a\u2028b', '', ' ', '{}', 'a'.repeat(129)]) {
      // Headers itself would refuse some of them.
      const headers = { get: () => hostile } as unknown as Headers;

      expect(acceptRequestContext(headers, () => true)).toEqual({
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        subrequestId: null,
        segmentId: null,
      });
    }
  });

  it('is kept, with those of its parts, when the caller names it', () => {
    const headers = new Headers({ 'x-request-id': 'r.1', 'x-subrequest-id': 's:2', 'x-segment-id': 'seg-3' });

    expect(acceptRequestContext(headers, () => true)).toEqual({
      requestId: 'r.1',
      subrequestId: 's:2',
      segmentId: 'seg-3',
    });
  });

  it('is not kept when it must not stand in logs and events', () => {
    const headers = new Headers({ 'x-request-id': 'hunter2', 'x-segment-id': 'seg-3' });

    expect(acceptRequestContext(headers, (id) => id !== 'hunter2')).toEqual({
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      subrequestId: null,
      segmentId: 'seg-3',
    });
  });

  it('is known to all that a request awaits, and to nothing else', async () => {
    const seen = await Promise.all(
      ['one', 'two'].map((id) =>
        withRequestContext({ ...newRequestContext(), requestId: id }, async () => {
          await Promise.resolve();
          return currentRequestId();
        }),
      ),
    );

    expect(seen).toEqual(['one', 'two']);
    expect(currentRequestId()).toBeUndefined();
  });
});
