import { readFileSync, statSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';

const sizeLimitBytes = 1024 * 1024;

/** The tables of a file, or the one line that says why there are none. */
export type ReadToml = { readonly root: unknown } | { readonly problem: string };

export function readToml(file: string): ReadToml {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) return { problem: 'must be a regular file (got a directory or a device)' };
    if (stats.size > sizeLimitBytes) {
      return { problem: `must be at most ${sizeLimitBytes} bytes (got ${stats.size} bytes)` };
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    // Integers beyond what a number holds arrive as bigint, so that the range check can name their key.
    return { root: parse(text, { integersAsBigInt: 'asNeeded' }) };
  } catch (error) {
    return { problem: describeFailure(error) };
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof TomlError) {
    // Its first line only: the rest quotes the file, and the quoted line may hold a password.
    const [reason] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    return `must be valid TOML; line ${error.line}, column ${error.column}: ${reason}`;
  }
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'must be UTF-8 text (got other bytes)';
  if (code === 'ENOENT') return 'must exist (got no such file)';
  if (code === undefined) throw error;
  return `must be readable (got ${code})`;
}
