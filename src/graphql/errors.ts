import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { LimitError } from '../limits/limit-error.ts';
import { describeError } from '../shared/describe-error.ts';

const masked = new WeakSet<GraphQLError>();

/**
 * Returns the error as a GraphQL client may see it, and one that is masked already as it is. The HTTP status of a refusal
 * is kept. Where the schema is not to be read, GraphQL's own errors suggest no names of it.
 */
export function maskError(error: unknown, logger: Logger, mayIntrospect: boolean): GraphQLError {
  const known = [error, (error as GraphQLError | undefined)?.originalError].find(isMasked);
  if (known !== undefined) return known;
  const { code, message: full, hint } = describeError(error, logger);
  const message = mayIntrospect || code !== 'BAD_REQUEST' ? full : full.replace(/ Did you mean .*$/s, '');
  const http = findStatus(error);
  const mask = new GraphQLError(message, {
    extensions: { code, ...(hint !== undefined && { hint }), ...(http !== undefined && { http }) },
    ...(error instanceof GraphQLError && { nodes: error.nodes ?? null, path: error.path ?? null }),
  });
  masked.add(mask);
  return mask;
}

function isMasked(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && masked.has(error);
}

function findStatus(error: unknown): GraphQLErrorExtensions['http'] {
  if (error instanceof LimitError) return { status: error.status, headers: error.headers };
  if (!(error instanceof GraphQLError)) return undefined;
  const { nodes, source, extensions } = error;
  // A body that is no JSON is no GraphQL request, and is rejected with its status whatever the client accepts.
  const isAboutDocument = nodes !== undefined || source !== undefined;
  return extensions.http === undefined || isAboutDocument ? extensions.http : { ...extensions.http, spec: false };
}
