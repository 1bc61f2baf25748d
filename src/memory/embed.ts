import { MemoryError } from '../errors.ts';
import type { MemoryContext } from './context.ts';

/** Before the transaction, always: a model at work must not hold a connection. */
export async function embedOne({ embedder }: Pick<MemoryContext, 'embedder'>, text: string): Promise<Float32Array> {
  const [vector] = await embedder.embed([text]);
  if (vector === undefined) throw new MemoryError('EMBEDDING_FAILED', 'the embedder gave no vector for the text');
  return vector;
}
