import {
  GraphQLEnumType,
  GraphQLError,
  GraphQLScalarType,
  print,
  type GraphQLLeafType,
  type GraphQLSchema,
  type ValueNode,
} from 'graphql';
import { invalidInput } from '../shared/errors.ts';

/**
 * What GraphQL says of a value that a type does not take names the type, and not what it takes instead. These say both,
 * and are reported as bad input, like everything that the core refuses.
 */

/** Changes the types of the schema: the builder makes its enums itself. */
export function tellEnumValues(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(type instanceof GraphQLEnumType) || type.name.startsWith('__')) continue;
    const names = type.getValues().map(({ name }) => name);
    Object.assign(type, refusingParsers(type, `one of ${names.join(', ')}`));
  }
  return schema;
}

/** The scalar, with words for what it takes. */
export function tellAllowed<Internal, External>(
  scalar: GraphQLScalarType<Internal, External>,
  allowed: string,
): GraphQLScalarType<Internal, External> {
  return new GraphQLScalarType({ ...scalar.toConfig(), ...refusingParsers<Internal>(scalar, allowed) });
}

function refusingParsers<Internal>(
  type: GraphQLLeafType,
  allowed: string,
): Pick<GraphQLScalarType<Internal>, 'parseValue' | 'parseLiteral'> {
  const parseValue = type.parseValue.bind(type);
  const parseLiteral = type.parseLiteral.bind(type);
  const parse = (read: () => unknown, describe: () => unknown, node?: ValueNode): Internal => {
    try {
      return read() as Internal;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const refusal = invalidInput(type.name, allowed, describe());
      // GraphQL adds where the value stood to the message of its own errors alone.
      throw new GraphQLError(refusal.message, { originalError: refusal, nodes: node ?? null });
    }
  };
  return {
    parseValue: (value) =>
      parse(
        () => parseValue(value),
        () => value,
      ),
    parseLiteral: (node, variables) =>
      parse(
        () => parseLiteral(node, variables),
        () => ('value' in node ? node.value : print(node)),
        node,
      ),
  };
}
