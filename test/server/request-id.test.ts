import { describe, expect, it } from 'vitest';
import { acceptRequestId, currentRequestId, withRequestId } from '../../src/request-id.ts';

describe('a request id', () => {
  it('is never one that could break a log line or a header', () => {
    for (const hostile of ['a\nb', 'a\r\nset-cookie: x', 'a\n', '\u0000', 'a\u2028b', '', ' ', '{}']) {
      expect(acceptRequestId(hostile)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('is known to all that a request awaits, and to nothing else', async () => {
    const seen = await Promise.all(
      ['one', 'two'].map((id) =>
        withRequestId(id, async () => {
          await Promise.resolve();
          return currentRequestId();
        }),
      ),
    );

    expect(seen).toEqual(['one', 'two']);
    expect(currentRequestId()).toBeUndefined();
  });
});
