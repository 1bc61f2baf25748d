import * as fc from 'fast-check';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { loadTokenizer, type TokenizerName } from '../../src/retrieval/context/tokenizers.ts';
import { testConfig } from '../support/config.ts';

function choose(tokenizer: TokenizerName, env: Record<string, string> = {}): Config {
  const config = testConfig(env);
  const context = { ...config.memory.retrieval.context, tokenizer };
  return { ...config, memory: { ...config.memory, retrieval: { ...config.memory.retrieval, context } } };
}

const withModel = { BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' };

describe('a tokenizer', () => {
  it.each([
    ['o200k', {}, 'hello world', 2],
    ['o200k', {}, 'お誕生日おめでとう', 8],
    ['o200k', {}, '2 + 2 = 4', 7],
    ['cl100k', {}, 'hello world', 2],
    ['cl100k', {}, 'お誕生日おめでとう', 9],
    ['cl100k', {}, '2 + 2 = 4', 7],
    ['model', withModel, 'hello world', 2],
    ['model', withModel, 'unaffable', 3],
  ] as const)('%s counts as published', async (name, env, text, tokens) => {
    const tokenizer = await loadTokenizer(choose(name, env));

    expect(tokenizer.name).toBe(name);
    expect(tokenizer.count(text)).toBe(tokens);
    expect(tokenizer.countWithin(text, tokens)).toBe(tokens);
    expect(tokenizer.countWithin(text, tokens - 1)).toBeNull();
    expect(tokenizer.count('')).toBe(0);
  });

  it('takes a control token in a text for text', async () => {
    const { count } = await loadTokenizer(choose('o200k'));

    expect(count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it.each([
    ['o200k', countO200k],
    ['cl100k', countCl100k],
  ] as const)('%s counts lines one by one and gets what the whole text has', async (name, countWhole) => {
    const { count } = await loadTokenizer(choose(name));
    const sign = fc.constantFrom(
      '\n',
      '\r\n',
      '\n\n',
      '-',
      '- ',
      '#',
      '### ',
      ' ',
      '/',
      ']',
      '.',
      'word',
      '12',
      'é',
      '🫖',
      '\t',
    );
    const text = fc.array(fc.oneof(sign, fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 60 });

    fc.assert(
      fc.property(text, (parts) => {
        expect(count(parts.join(''))).toBe(countWhole(parts.join(''), { disallowedSpecial: new Set() }));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it('is loaded once', async () => {
    expect(await loadTokenizer(choose('o200k'))).toBe(await loadTokenizer(choose('o200k')));
  });

  it('of the model is refused where there is no model', async () => {
    await expect(loadTokenizer(choose('model'))).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(
        /butler\.memory\.retrieval\.context\.tokenizer must be "o200k" or "cl100k" .*got "model"/,
      ) as string,
    });
  });
});
