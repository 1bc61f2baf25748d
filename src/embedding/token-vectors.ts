/** A vector for each word piece of a text, as the model sees the piece in its sentence. */
export interface TokenVectors {
  /** The pieces, as the tokenizer of the model writes them. Special ones and punctuation are left out. */
  pieces: readonly string[];
  /** One row of `dimensions` values for each piece, scaled to whole numbers from -127 to 127. */
  values: Int8Array;
}

/** Word pieces of a text that have a vector; what follows has none. */
export const mostTokens = 64;

/** Packs the signs of token vectors: a bit for each value, 1 for a negative one; each piece begins with a byte of its own. */
export function packSigns({ pieces, values }: TokenVectors): Uint8Array {
  const dimensions = pieces.length === 0 ? 0 : values.length / pieces.length;
  const bytesPerToken = Math.ceil(dimensions / 8);
  const packed = new Uint8Array(pieces.length * bytesPerToken);
  for (let token = 0; token < pieces.length; token++) {
    for (let place = 0; place < dimensions; place++) {
      if ((values[token * dimensions + place] ?? 0) >= 0) continue;
      const byte = token * bytesPerToken + (place >> 3);
      packed[byte] = (packed[byte] ?? 0) | (1 << (place & 7));
    }
  }
  return packed;
}

/**
 * Measures how well a memory has each word of a question, -1 to 1: for each piece of the question the cosine with the
 * nearest piece of the memory. The pieces of a memory are known by their signs, which tell them apart nearly as well as
 * their values. Null where either has no piece.
 */
export function compareTokens({ pieces, values }: TokenVectors, packed: Uint8Array): number[] | null {
  const dimensions = pieces.length === 0 ? 0 : values.length / pieces.length;
  const signs = unpackSigns(packed, dimensions);
  if (signs.length === 0) return null;
  return pieces.map((_, token) => findNearest(values.subarray(token * dimensions, (token + 1) * dimensions), signs));
}

/** Returns the weighted mean of what `compareTokens` measured; null where no piece counts. */
export function averageTokens(similarities: readonly number[], weights: readonly number[]): number | null {
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return all === 0 ? null : similarities.reduce((sum, one, place) => sum + one * (weights[place] ?? 0), 0) / all;
}

function findNearest(row: Int8Array, signs: Int8Array): number {
  const dimensions = row.length;
  let best = -Infinity;
  for (let start = 0; start < signs.length; start += dimensions) {
    let product = 0;
    for (let place = 0; place < dimensions; place++)
      product += (row[place] as number) * (signs[start + place] as number);
    if (product > best) best = product;
  }
  const length = Math.sqrt(row.reduce((total, value) => total + value * value, 0));
  return length === 0 ? 0 : best / (length * Math.sqrt(dimensions));
}

function unpackSigns(packed: Uint8Array, dimensions: number): Int8Array {
  const bytesPerToken = Math.ceil(dimensions / 8);
  const count = bytesPerToken === 0 ? 0 : Math.floor(packed.length / bytesPerToken);
  const signs = new Int8Array(count * dimensions);
  for (let token = 0; token < count; token++) {
    for (let place = 0; place < dimensions; place++) {
      const byte = packed[token * bytesPerToken + (place >> 3)] as number;
      signs[token * dimensions + place] = (byte >> (place & 7)) & 1 ? -1 : 1;
    }
  }
  return signs;
}
