import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { describeError } from '../describe-error.ts';

/** An error as a GraphQL client may see it. The status that the HTTP door chose for a request it refused is kept. */
export function maskError(error: unknown, logger: Logger): GraphQLError {
  const { code, message, hint } = describeError(error, logger);
  const extensions = hint === undefined ? { code } : { code, hint };
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { extensions });
  const { http } = error.extensions;
  return new GraphQLError(message, {
    extensions: http === undefined ? extensions : { ...extensions, http },
    nodes: error.nodes ?? null,
    path: error.path ?? null,
  });
}
