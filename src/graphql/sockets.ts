import type { IncomingHttpHeaders } from 'node:http';
import { execute, GraphQLError, parse, subscribe, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { ServerOptions } from 'graphql-ws';
import type { Logger } from 'pino';
import type { Admission } from '../auth/admission.ts';
import { callerKey } from '../auth/caller.ts';
import { decodeTenant, tenantHeader } from '../auth/grant.ts';
import type { Vigil } from '../auth/vigil.ts';
import { MemoryError } from '../shared/errors.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { Release } from '../limits/gate.ts';
import type { Principal } from '../memory/context.ts';
import { audited } from './audit.ts';
import { documentTokenLimit } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { refuseForeignDocument, validateDocument, type DocumentPolicy } from './document-policy.ts';
import { maskError } from './errors.ts';
import { limitFeeds, type Subscribe } from './limit-feeds.ts';
import { schema } from './schema.ts';

export interface SocketCallers {
  authenticate(authorization: string | undefined, namedTenant: string | undefined): Promise<Admission>;
  /** Tells when whatever a caller was let in by has ended. */
  vigil: Vigil;
  createContext(caller: Principal | undefined): GraphQLContext;
  /** Told of whoever could not say who they are. */
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
function authorizationOf(params: Record<string, unknown> | undefined, { request }: SocketExtra): string | undefined {
  const given = params?.['authorization'];
  return typeof given === 'string' ? given : request.headers.authorization;
}

/** What is not a text is no name of a tenant, and is refused as such: who names one must not end up at home. */
function namedTenantOf(params: Record<string, unknown> | undefined, { request }: SocketExtra): string | undefined {
  const given = params?.[tenantHeader] ?? undefined;
  if (given !== undefined) return typeof given === 'string' ? given : JSON.stringify(given);
  const header = request.headers[tenantHeader];
  return header === undefined ? undefined : decodeTenant(String(header));
}

/**
 * The limits and the errors of HTTP for graphql-ws, which by itself closes the connection when it meets a syntax error
 * and tells the client whatever a resolver threw.
 */
export function socketOptions(
  policy: DocumentPolicy,
  callers: SocketCallers,
  limits: Limits,
  logger: Logger,
): ServerOptions<Record<string, unknown>, SocketExtra> {
  return {
    onConnect: async ({ connectionParams, extra }) => {
      try {
        const tenant = namedTenantOf(connectionParams, extra);
        const admission = await callers.authenticate(authorizationOf(connectionParams, extra), tenant);
        extra.caller = admission.principal;
        takePlace(extra, limits, callers.vigil.watch(admission));
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
    context: ({ extra }) => callers.createContext(extra.caller),
    onSubscribe: ({ extra }, _id, { query, operationName, variables }) => {
      try {
        // First: to parse and to validate costs something too.
        limits.spend(keyOf(extra));
        const document = parse(query, { maxTokens: documentTokenLimit });
        const problems = [...refuseForeignDocument(policy, query), ...validateDocument(policy, document)];
        return problems.length > 0 ? problems : { schema, document, operationName, variableValues: variables };
      } catch (error) {
        // Not masked yet: `onError` does that, and would not know it again.
        return [asGraphQLError(error)];
      }
    },
    execute: (operation) => answerRefusal(() => runOperation(limits, operation)),
    subscribe: (operation) => answerRefusal(() => limitFeeds(limits, audited(subscribe as Subscribe))(operation)),
    onNext: (_connection, _id, _payload, _arguments, { data, errors }) =>
      errors && { data: data ?? null, errors: errors.map((error) => maskError(error, logger, policy).toJSON()) },
    onError: (_connection, _id, _payload, errors) => errors.map((error) => maskError(error, logger, policy).toJSON()),
  };
}

/** The close code 1013, after which clients of graphql-ws come again. */
const tryAgainLater = 1013;

/** The close code of graphql-ws after which clients do not come again by themselves. */
const unauthorized = 4401;

function takePlace(extra: SocketExtra, limits: Limits, { signal, release }: ReturnType<Vigil['watch']>): void {
  try {
    const leave = limits.openSocket(keyOf(extra));
    extra.leave = () => [leave, release].forEach((finish) => finish());
  } catch (error) {
    release();
    throw error;
  }
  const end = (): void => extra.socket.close(unauthorized, 'the token has expired or was revoked');
  signal.addEventListener('abort', end, { once: true });
  // Whoever hung up while we asked who it is will not do so again.
  if (extra.isClosed === true) extra.leave();
}

function keyOf({ caller }: SocketExtra): string {
  if (caller === undefined) throw new MemoryError('UNAUTHENTICATED', 'authorization: a caller; given none');
  return callerKey(caller);
}

async function runOperation(limits: Limits, operation: ExecutionArgs): Promise<ExecutionResult> {
  const { memory } = operation.contextValue as GraphQLContext;
  return limits.withinTime(async () => {
    const leave = await limits.enterAs(callerKey(memory.principal));
    try {
      return await audited(execute)(operation);
    } finally {
      leave();
    }
  });
}

/** A refusal is the answer to its operation; graphql-ws would close the whole connection. */
async function answerRefusal<T>(work: () => Promise<T>): Promise<T | ExecutionResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    return { errors: [asGraphQLError(error)] };
  }
}

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  return new GraphQLError('refused', { originalError: error as Error });
}
