import type { InputFieldBuilder } from '@pothos/core';
import type { builder } from './builder.ts';

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never;
type Fields = InputFieldBuilder<Types, 'InputObject'>;

/** Fields that several inputs have, described once. */

export function idempotencyKey(t: Fields) {
  return t.string({ description: 'The same key and input again give the first answer and change nothing.' });
}

/** What a memory is filtered by and comes back with. */
export function labels(t: Fields) {
  return {
    tags: t.stringList({ description: 'Words to filter by; at most 64.' }),
    metadata: t.field({ type: 'JSONObject', description: 'Anything structured that should come back with it.' }),
  };
}

/** Where a fact or rule was learned. */
export function source(t: Fields) {
  return {
    sourceButler: t.string({
      description: 'The butler that learned it. Default: the caller. The role butler can name only itself.',
    }),
    sourceEpisodeId: t.string({
      description: 'UUID or handle of the episode it was learned from; a link is made to it.',
    }),
  };
}
