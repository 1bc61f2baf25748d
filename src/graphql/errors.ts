import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { describeError } from '../shared/describe-error.ts';
import type { DocumentPolicy } from './document-policy.ts';

/**
 * An error as a GraphQL client may see it. The status that the HTTP door chose for a request it refused is kept. Where the
 * schema is not to be read, GraphQL's own errors suggest no names of it.
 */
export function maskError(
  error: unknown,
  logger: Logger,
  { suggestions }: Pick<DocumentPolicy, 'suggestions'>,
): GraphQLError {
  const { code, message: full, hint } = describeError(error, logger);
  const message = suggestions || code !== 'BAD_REQUEST' ? full : full.replace(/ Did you mean .*$/s, '');
  const extensions = hint === undefined ? { code } : { code, hint };
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { extensions });
  const http = statusOf(error);
  return new GraphQLError(message, {
    extensions: http === undefined ? extensions : { ...extensions, http },
    nodes: error.nodes ?? null,
    path: error.path ?? null,
  });
}

interface HttpExtension {
  status?: number;
  /** Whether the status is for clients that accept application/graphql-response+json only. */
  spec?: boolean;
}

/** A body that is no JSON is no GraphQL request at all, and is refused as such whatever the client accepts. */
function statusOf({ extensions, nodes, source }: GraphQLError): HttpExtension | undefined {
  const http = extensions.http;
  const isAboutDocument = nodes !== undefined || source !== undefined;
  return http === undefined || isAboutDocument ? http : { ...http, spec: false };
}
