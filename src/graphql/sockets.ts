import type { ServerOptions } from 'graphql-ws';
import { parse } from 'graphql';
import type { Logger } from 'pino';
import { documentTokenLimit } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { refuseForeignDocument, validateDocument, type DocumentPolicy } from './document-policy.ts';
import { maskError } from './errors.ts';
import { schema } from './schema.ts';

/**
 * The limits and the errors of HTTP for graphql-ws, which by itself closes the connection when it meets a syntax error
 * and tells the client whatever a resolver threw.
 */
export function socketOptions(
  policy: DocumentPolicy,
  createContext: () => GraphQLContext,
  logger: Logger,
): ServerOptions {
  return {
    context: () => createContext(),
    onSubscribe: (_connection, _id, { query, operationName, variables }) => {
      try {
        const document = parse(query, { maxTokens: documentTokenLimit });
        const problems = [...refuseForeignDocument(policy, query), ...validateDocument(policy, document)];
        return problems.length > 0 ? problems : { schema, document, operationName, variableValues: variables };
      } catch (error) {
        return [maskError(error, logger)];
      }
    },
    onNext: (_connection, _id, _payload, _arguments, { data, errors }) =>
      errors && { data: data ?? null, errors: errors.map((error) => maskError(error, logger).toJSON()) },
    onError: (_connection, _id, _payload, errors) => errors.map((error) => maskError(error, logger).toJSON()),
  };
}
