import { GraphQLError, isEnumType, type GraphQLSchema } from 'graphql';
import { describeGiven } from '../errors.ts';

/**
 * Has a refused value of a closed set answered with the values that there are. GraphQL itself names the set alone, and a
 * model that calls a tool has no schema to look it up in.
 */
export function tellEnumValues(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()).filter(isEnumType)) {
    const names = type.getValues().map(({ name }) => name);
    const parseValue = type.parseValue.bind(type);
    type.parseValue = (given) => {
      if (typeof given === 'string' && names.includes(given)) return parseValue(given);
      throw new GraphQLError(`${type.name}: one of ${names.join(', ')}; given ${describeGiven(given)}`);
    };
  }
  return schema;
}
