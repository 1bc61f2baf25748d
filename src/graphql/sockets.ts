import type { IncomingHttpHeaders } from 'node:http';
import type { ServerOptions } from 'graphql-ws';
import { parse } from 'graphql';
import type { Logger } from 'pino';
import { MemoryError } from '../errors.ts';
import type { Principal } from '../memory/context.ts';
import { documentTokenLimit } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { refuseForeignDocument, validateDocument, type DocumentPolicy } from './document-policy.ts';
import { maskError } from './errors.ts';
import { schema } from './schema.ts';

export interface SocketCallers {
  authenticate(authorization: string | undefined): Promise<Principal>;
  createContext(caller: Principal | undefined): GraphQLContext;
}

/** What belongs to a connection: how it was opened, and whose it is once that is known. */
export interface SocketExtra {
  readonly request: { readonly headers: IncomingHttpHeaders };
  caller?: Principal;
}

/** A browser cannot set the header of a socket: it says who it is in the message that opens the protocol. */
function authorizationOf(params: Record<string, unknown> | undefined, { request }: SocketExtra): string | undefined {
  const given = params?.['authorization'];
  return typeof given === 'string' ? given : request.headers.authorization;
}

/**
 * The limits and the errors of HTTP for graphql-ws, which by itself closes the connection when it meets a syntax error
 * and tells the client whatever a resolver threw.
 */
export function socketOptions(
  policy: DocumentPolicy,
  callers: SocketCallers,
  logger: Logger,
): ServerOptions<Record<string, unknown>, SocketExtra> {
  return {
    onConnect: async ({ connectionParams, extra }) => {
      try {
        extra.caller = await callers.authenticate(authorizationOf(connectionParams, extra));
        return true;
      } catch (error) {
        if (error instanceof MemoryError && error.code === 'UNAUTHENTICATED') return false;
        throw error;
      }
    },
    context: ({ extra }) => callers.createContext(extra.caller),
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
