import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
  type GraphQLNamedType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { packageRoot } from '../../src/shared/package-root.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

interface Part {
  name: string;
  description: string | null | undefined;
}

/** A type and all that is named in it. */
function partsOf(type: GraphQLNamedType): Part[] {
  const own = { name: type.name, description: type.description };
  const within = ({ name, description }: Part): Part => ({ name: `${type.name}.${name}`, description });
  if (isEnumType(type)) return [own, ...type.getValues().map(within)];
  if (isInputObjectType(type)) return [own, ...Object.values(type.getFields()).map(within)];
  if (!isObjectType(type) && !isInterfaceType(type)) return [own];
  const fields = Object.values(type.getFields());
  const args = fields.flatMap((field) =>
    field.args.map(({ name, description }) => within({ name: `${field.name}(${name})`, description })),
  );
  return [own, ...fields.map(within), ...args];
}

describe('the schema', () => {
  it('is what schema.graphql says', () => {
    expect(read('schema.graphql')).toBe(`${printSchema(lexicographicSortSchema(schema))}\n`);
  });

  it('describes every type, field, argument and value', () => {
    const parts = types.flatMap(partsOf);

    expect(parts.length).toBeGreaterThan(50);
    expect(parts.filter(({ description }) => !/\w/.test(description ?? '')).map(({ name }) => name)).toEqual([]);
  });

  it('has no field for a column of vectors or of lexemes', () => {
    const columns = [
      ...read('prisma/schema.prisma').matchAll(/^ +(\w+) +Unsupported\("(?:vector|tsvector|token_signs)/gm),
    ];
    const hidden = new Set(columns.map(([, name]) => name));
    const fields = types.flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()) : []));

    expect(hidden).toEqual(
      new Set(['embedding', 'alternateEmbedding', 'searchVector', 'embeddingTokens', 'alternateEmbeddingTokens']),
    );
    expect(fields.filter(({ name }) => hidden.has(name))).toEqual([]);
    expect(types.filter(({ name }) => /vector/i.test(name))).toEqual([]);
  });
});
