import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { handleOf, longHandleOf, readHandle } from '../../src/shared/handles.ts';

const ids = Array.from({ length: 2000 }, () => uuidv7());

describe('a handle', () => {
  it('stands for the end of the id, and its longer form for more of it', () => {
    for (const id of [...ids, '00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff']) {
      expect(handleOf(id)).toMatch(/^[a-z]{2}\d{3}[a-z]{2}$/);
      expect(readHandle(handleOf(id))).toBe(id.slice(-7));
      expect(readHandle(` ${longHandleOf(id).toUpperCase()} `)).toBe(id.slice(-9));
    }
  });

  it.each(['', 'ab123', 'ab123cd4', 'jq123ab', 'zz999zz', 'ab123cd999', 'ab-123-cd', ids[0] ?? ''])(
    'is not: "%s"',
    (text) => {
      expect(readHandle(text)).toBeNull();
    },
  );

  it('is three tokens after the comma of a line, of either encoding, where an id is some twenty', () => {
    for (const count of [countO200k, countCl100k]) {
      const tokensOf = (text: string): number => count(`3d ago, ${text}]`) - count('3d ago,]');
      const average = (texts: string[]): number => texts.map(tokensOf).reduce((sum, one) => sum + one) / texts.length;
      expect(average(ids.map(handleOf))).toBeLessThan(3.2);
      expect(average(ids)).toBeGreaterThan(15);
    }
  });
});
