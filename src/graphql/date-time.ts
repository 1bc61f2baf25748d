import { GraphQLScalarType, Kind } from 'graphql';
import { DateTimeResolver } from 'graphql-scalars';

/** A day, or a time of day without seconds or without a zone: people and models leave these out. */
const shortened =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d+)?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/i;

/** A moment. Takes a day, too: it stands for its first moment in UTC. A time without a zone is one of UTC. */
export const dateTime: GraphQLScalarType<Date, Date> = new GraphQLScalarType<Date, Date>({
  ...DateTimeResolver.toConfig(),
  description:
    'A moment in ISO 8601, such as 2026-01-31T12:00:00Z. Input may be a day, such as 2026-01-31, which stands for its first moment in UTC; a time without a zone is one of UTC. Output is always in UTC.',
  parseValue: (value) => DateTimeResolver.parseValue(complete(value)),
  parseLiteral: (node, variables) =>
    DateTimeResolver.parseLiteral(
      node.kind === Kind.STRING ? { ...node, value: complete(node.value) as string } : node,
      variables,
    ),
});

function complete(value: unknown): unknown {
  const found = typeof value === 'string' ? shortened.exec(value)?.groups : undefined;
  if (found === undefined) return value;
  const { day = '', time = '00:00', seconds = ':00', zone = 'Z' } = found;
  return `${day}T${time}${seconds}${zone}`;
}
