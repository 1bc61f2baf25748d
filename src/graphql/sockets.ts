import type { IncomingHttpHeaders } from 'node:http';
import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import type { ServerOptions } from 'graphql-ws';
import type { Admission } from '../auth/admission.ts';
import { callerKey } from '../auth/caller.ts';
import { decodeTenant, tenantHeader } from '../auth/grant.ts';
import type { GrantWatch } from '../auth/grant-watch.ts';
import { MemoryError } from '../shared/errors.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { Release } from '../limits/concurrency-limit.ts';
import type { Principal } from '../memory/context.ts';
import { newRequestContext, withRequestContext } from '../shared/request-context.ts';
import type { GraphQLContext } from './context.ts';
import type { Operation, Operations } from './execute.ts';
import { schema } from './schema.ts';

export interface SocketCallers {
  authenticate(authorization: string | undefined, namedTenant: string | undefined): Promise<Admission>;
  /** Tells when whatever a caller was let in by has ended. */
  grantWatch: GrantWatch;
  limits: Limits;
  operations: Operations;
  createContext(caller: Principal | undefined): GraphQLContext;
  /** Called when a client could not be authenticated. */
  refused(): void;
}

/** What belongs to a connection: how it was opened, and whose it is once that is known. */
export interface SocketExtra {
  readonly request: { readonly headers: IncomingHttpHeaders };
  readonly socket: { close(code: number, reason: string): void };
  caller?: Principal;
  /** Gives the place of the connection back. */
  leave?: Release;
  isClosed?: boolean;
}

/** A browser cannot set the headers of a socket: it says who it is in the message that opens the protocol. */
function findAuthorization(params: Record<string, unknown> | undefined, { request }: SocketExtra): string | undefined {
  const given = params?.['authorization'];
  return typeof given === 'string' ? given : request.headers.authorization;
}

/** What is not a text is no name of a tenant, and is refused as such: who names one must not end up at home. */
function findNamedTenant(params: Record<string, unknown> | undefined, { request }: SocketExtra): string | undefined {
  const given = params?.[tenantHeader] ?? undefined;
  if (given !== undefined) return typeof given === 'string' ? given : JSON.stringify(given);
  const header = request.headers[tenantHeader];
  return header === undefined ? undefined : decodeTenant(String(header));
}

/** Runs the operations of graphql-ws connections through the pipeline. */
export function socketOptions(callers: SocketCallers): ServerOptions<Record<string, unknown>, SocketExtra> {
  const { limits, operations } = callers;
  const describe = (error: GraphQLError): GraphQLFormattedError => withoutStatus(operations.maskError(error).toJSON());
  return {
    onConnect: async ({ connectionParams, extra }) => {
      try {
        const tenant = findNamedTenant(connectionParams, extra);
        const admission = await callers.authenticate(findAuthorization(connectionParams, extra), tenant);
        extra.caller = admission.principal;
        takePlace(extra, limits, callers.grantWatch.watch(admission));
        return true;
      } catch (error) {
        if (error instanceof LimitError || (error instanceof MemoryError && error.code === 'ISSUER_UNAVAILABLE'))
          extra.socket.close(tryAgainLater, error.message);
        else if (error instanceof MemoryError && error.code === 'UNAUTHENTICATED') callers.refused();
        else if (!(error instanceof MemoryError && error.code === 'FORBIDDEN')) throw error;
        return false;
      }
    },
    onClose: ({ extra }) => {
      extra.isClosed = true;
      extra.leave?.();
    },
    onSubscribe: ({ extra }, _id, { query, operationName, variables }) =>
      withRequestContext(newRequestContext(), () => {
        // graphql-ws closes the connection when this throws.
        try {
          // Rate-limits before the document is parsed and validated, which costs something too.
          limits.spend(nameFollower(extra));
          const document = operations.parse(query);
          const contextValue = callers.createContext(extra.caller);
          const problems = operations.validate(document);
          return problems.length > 0
            ? problems
            : { schema, document, operationName, variableValues: variables, contextValue };
        } catch (error) {
          return [operations.maskError(error)];
        }
      }),
    execute: (operation) => operations.execute(operation as Operation),
    subscribe: (operation) => operations.subscribe(operation as Operation),
    onNext: (_connection, _id, _payload, _arguments, { data, errors }) =>
      errors && { data: data ?? null, errors: errors.map(describe) },
    onError: (_connection, _id, _payload, errors) => errors.map(describe),
  };
}

/** The status that the same error has over HTTP is of no use to a client of a socket. */
function withoutStatus({ extensions, ...error }: GraphQLFormattedError): GraphQLFormattedError {
  const { http: _http, ...others } = extensions ?? {};
  return { ...error, extensions: others };
}

/** The close code 1013, after which clients of graphql-ws come again. */
const tryAgainLater = 1013;

/** The close code of graphql-ws after which clients do not come again by themselves. */
const unauthorized = 4401;

function takePlace(extra: SocketExtra, limits: Limits, { signal, release }: ReturnType<GrantWatch['watch']>): void {
  try {
    const leave = limits.openSocket(nameFollower(extra));
    extra.leave = () => [leave, release].forEach((finish) => finish());
  } catch (error) {
    release();
    throw error;
  }
  const end = (): void => extra.socket.close(unauthorized, 'the token has expired or was revoked');
  signal.addEventListener('abort', end, { once: true });
  // The client may have disconnected during authentication; no second close event follows.
  if (extra.isClosed === true) extra.leave();
}

function nameFollower({ caller }: SocketExtra): string {
  if (caller === undefined) throw new MemoryError('UNAUTHENTICATED', 'authorization must be a caller (got none)');
  return callerKey(caller);
}
