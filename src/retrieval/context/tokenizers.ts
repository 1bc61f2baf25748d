import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/schema.ts';
import { findModelsDirectory, listModelsDirectories } from '../../embedding/model-files.ts';
import { MemoryError } from '../../shared/errors.ts';

export type TokenizerName = Config['memory']['retrieval']['context']['tokenizer'];

/** Counts the tokens of a text; the same text always has the same number. */
export interface Tokenizer {
  readonly name: TokenizerName;
  readonly count: (text: string) => number;
  /** Null when there are more than `most`; a long text is not read to its end to find out. */
  readonly countWithin: (text: string, most: number) => number | null;
}

const loaded = new Map<string, Promise<Tokenizer>>();

/**
 * The tokenizer that the configuration names. The tables of an encoding are some megabytes that take a moment to read:
 * they are loaded once, when a context is asked for or when the server has started and has time for it.
 */
export function loadTokenizer(config: Config): Promise<Tokenizer> {
  const { tokenizer } = config.memory.retrieval.context;
  const key = tokenizer === 'model' ? modelKey(config) : tokenizer;
  const known = loaded.get(key);
  if (known !== undefined) return known;
  const loading = loaders[tokenizer](config);
  loaded.set(key, loading);
  // The next call tries again.
  loading.catch(() => loaded.delete(key));
  return loading;
}

function modelKey({ butler, memory }: Config): string {
  return JSON.stringify([memory.embedding.provider, memory.embeddingModel, memory.embedding.dtype, butler.home]);
}

const loaders: Record<TokenizerName, (config: Config) => Promise<Tokenizer>> = {
  o200k: async () => asTokenizer('o200k', await import('gpt-tokenizer/encoding/o200k_base')),
  cl100k: async () => asTokenizer('cl100k', await import('gpt-tokenizer/encoding/cl100k_base')),
  model: loadModelTokenizer,
};

interface Encoding {
  countTokens(text: string, options: typeof asPlainText): number;
  isWithinTokenLimit(text: string, most: number, options: typeof asPlainText): false | number;
}

/** What looks like a control token in a memory is text like any other, and no reason to throw. */
const asPlainText = { disallowedSpecial: new Set<string>() };

function asTokenizer(name: TokenizerName, encoding: Encoding): Tokenizer {
  const counted = new LRUCache<string, number>({ max: mostCountedLines });
  const countWithin = (text: string, most: number): number | null => {
    const known = counted.get(text);
    if (known !== undefined) return known <= most ? known : null;
    const tokens = encoding.isWithinTokenLimit(text, most, asPlainText);
    if (tokens === false) return null;
    if (text.length <= longestCountedLine) counted.set(text, tokens);
    return tokens;
  };
  return {
    name,
    count: (text) => text.split(betweenLines).reduce((sum, line) => sum + (countWithin(line, Infinity) ?? 0), 0),
    countWithin,
  };
}

/**
 * The line of a memory is the same in every context of the hour or of the day: it is counted once. Neither encoding has a
 * token that goes on from a line break into one of these signs, so what the lines have is what the text has.
 */
const betweenLines = /(?<=\n)(?=[-#])/;
const mostCountedLines = 20_000;
const longestCountedLine = 500;

async function loadModelTokenizer({ butler, memory }: Config): Promise<Tokenizer> {
  const { embedding, embeddingModel: model } = memory;
  if (embedding.provider !== 'transformers') {
    throw misconfigured(`"o200k" or "cl100k" while the embedding provider is "${embedding.provider}"`);
  }
  const directories = listModelsDirectories({ downloadDirectory: join(butler.home, 'models') });
  const directory = findModelsDirectory(directories, { model, dtype: embedding.dtype });
  if (directory === null) throw misconfigured(`"o200k" or "cl100k" until the files of ${model} are there`);
  const read = async (file: string): Promise<object> =>
    JSON.parse(await readFile(join(directory, model, file), 'utf8')) as object;
  const { Tokenizer: ModelTokenizer } = await import('@huggingface/tokenizers');
  const tokenizer = new ModelTokenizer(await read('tokenizer.json'), await read('tokenizer_config.json'));
  const count = (text: string): number => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  return {
    name: 'model',
    count,
    countWithin: (text, most) => {
      const tokens = count(text);
      return tokens > most ? null : tokens;
    },
  };
}

function misconfigured(allowed: string): MemoryError {
  return new MemoryError(
    'CONFIGURATION',
    `butler.memory.retrieval.context.tokenizer must be ${allowed} (got "model", which is the tokenizer of that model)`,
  );
}
