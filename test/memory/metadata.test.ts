import { describe, expect, it } from 'vitest';
import { jsonDepthLimit } from '../../src/memory/json.ts';
import { metadataByteLimit, normaliseMetadata } from '../../src/memory/metadata.ts';
import { createRedactor } from '../../src/redaction/redactor.ts';
import { testConfig } from '../support/config.ts';

const redactor = createRedactor({ config: testConfig(), principal: { tenantId: 'default' } });

const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });

describe('metadata', () => {
  it('is kept as it is, dates as they would be on the wire', () => {
    const given = { text: 'ü\n', list: [1, null, { deep: true }], at: new Date(0) as never };

    expect(normaliseMetadata(redactor, 'metadata', given)).toEqual({ ...given, at: '1970-01-01T00:00:00.000Z' });
  });

  it('loses NUL, in names and in values', () => {
    expect(normaliseMetadata(redactor, 'metadata', { 'a\0b': ['c\0', '😀'] })).toEqual({ ab: ['c', '😀'] });
  });

  it.each([[{ deep: ['\udc00d'] }], [{ '\udc00d': 1 }]])('is refused with half a character: %j', (given) => {
    expect(() => normaliseMetadata(redactor, 'metadata', given)).toThrow(
      'metadata must be text without half a character (a lone UTF-16 surrogate) (got "\\udc00d")',
    );
  });

  it('may be as deep and as large as the limits say, and no more', () => {
    const ofBytes = (bytes: number): { a: string } => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

    expect(normaliseMetadata(redactor, 'metadata', nested(jsonDepthLimit))).toEqual(nested(jsonDepthLimit));
    expect(normaliseMetadata(redactor, 'metadata', ofBytes(metadataByteLimit))).toEqual(ofBytes(metadataByteLimit));
    expect(() => normaliseMetadata(redactor, 'metadata', nested(jsonDepthLimit + 1))).toThrow(
      'metadata must be nested at most 32 levels deep (got more)',
    );
    expect(() => normaliseMetadata(redactor, 'metadata', ofBytes(metadataByteLimit + 1))).toThrow(
      'metadata must be JSON of at most 65536 bytes (got 65537)',
    );
  });

  it('is refused when it contains itself', () => {
    const given: Record<string, object> = {};
    given['self'] = given;

    expect(() => normaliseMetadata(redactor, 'metadata', given)).toThrow('nested at most');
  });
});
