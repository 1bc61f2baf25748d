import {
  NoSchemaIntrospectionCustomRule,
  validate,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
} from 'graphql';
import { isAsyncIterable, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Logger } from 'pino';
import { callerKey, currentAdmission } from '../auth/caller.ts';
import type { GrantWatch } from '../auth/grant-watch.ts';
import { currentDeadline } from '../limits/deadline.ts';
import type { Limits } from '../limits/limits.ts';
import { withRequestContext, type RequestContext } from '../shared/request-context.ts';
import { recordAccess } from './audit.ts';
import { documentTokenLimit } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { maskError } from './errors.ts';
import { openFeed, type Feed } from './feeds.ts';
import { schema } from './schema.ts';

/**
 * The one pipeline that HTTP, sockets and MCP run operations by: document limits, request id, access record, deadline,
 * limit of feeds, masking of errors. Yoga runs it for HTTP requests; `createOperations` runs it for the other doors.
 */

export interface PipelineOptions {
  /** Whether clients may read the schema, also through names that errors suggest. */
  mayIntrospect: boolean;
  limits: Limits;
  grantWatch: GrantWatch;
  logger: Logger;
}

type Answer = AsyncIterable<ExecutionResult> | ExecutionResult;
type Run = (args: ExecutionArgs) => Promise<Answer>;

export function createPipeline(options: PipelineOptions): Plugin {
  const { mayIntrospect } = options;
  return {
    onParse: ({ parseFn, setParseFn }) =>
      setParseFn((source, parseOptions) => parseFn(source, { ...parseOptions, maxTokens: documentTokenLimit })),
    onValidate: ({ addValidationRule, setValidationFn }) => {
      if (mayIntrospect) return;
      addValidationRule(NoSchemaIntrospectionCustomRule);
      // Yoga does not mask validation errors.
      setValidationFn(validateWithoutSuggestions);
    },
    onExecute: ({ executeFn, setExecuteFn }) => setExecuteFn(runMasked(options, executeOnce(executeFn as Run))),
    onSubscribe: ({ subscribeFn, setSubscribeFn }) =>
      setSubscribeFn(runMasked(options, subscribeLimited(options, subscribeFn as Run))),
  };
}

const validateWithoutSuggestions: typeof validate = (schemaOf, document, rules, options) =>
  validate(schemaOf, document, rules, { ...options, hideSuggestions: true });

/** Runs an operation under its request id, writes its access record first, and masks the errors of its answers. */
function runMasked({ mayIntrospect, logger }: PipelineOptions, run: Run): Run {
  const mask: Mask = (error) => maskError(error, logger, mayIntrospect);
  return (args) => {
    const { requestContext } = readContext(args).memory;
    return withRequestContext(requestContext, async () => {
      try {
        await recordAccess(args);
        const answer = await run(args);
        return isAsyncIterable(answer) ? maskFeed(answer as Feed, requestContext, mask) : maskAnswer(answer, mask);
      } catch (error) {
        return { errors: [mask(error)] };
      }
    });
  };
}

type Mask = (error: unknown) => GraphQLError;

function maskAnswer(answer: ExecutionResult, mask: Mask): ExecutionResult {
  return answer.errors === undefined ? answer : { ...answer, errors: answer.errors.map(mask) };
}

/** Restores the request id for each answer: the client asks for the next one outside of the request. */
function maskFeed(feed: Feed, context: RequestContext, mask: Mask): Feed {
  const nextMasked = async (): ReturnType<Feed['next']> => {
    try {
      const step = await feed.next();
      return step.done === true ? step : { done: false, value: maskAnswer(step.value, mask) };
    } catch (error) {
      throw mask(error);
    }
  };
  const masked: Feed = {
    [Symbol.asyncIterator]: () => masked,
    next: () => withRequestContext(context, nextMasked),
    return: (value) => feed.return(value),
    throw: (error) => feed.throw(error),
  };
  return masked;
}

/** Stops before the next field once the caller has been answered with TIMEOUT. */
function executeOnce(execute: Run): Run {
  return (args) => execute(Object.assign(args, { signal: currentDeadline() }));
}

function subscribeLimited({ limits, grantWatch }: PipelineOptions, subscribe: Run): Run {
  return (args) => {
    const { memory, request } = readContext(args);
    const close = limits.openFeed(callerKey(memory.principal));
    const watch = grantWatch.watch(currentAdmission());
    const release = (): void => [close, watch.release].forEach((finish) => finish());
    const ends = [request?.signal, watch.signal, currentDeadline()].filter((signal) => signal !== undefined);
    return openFeed(() => subscribe(args), AbortSignal.any(ends), release);
  };
}

/** Yoga adds the HTTP request to the context of operations that came by one. */
function readContext({ contextValue }: ExecutionArgs): GraphQLContext & { request?: Request } {
  return contextValue as GraphQLContext & { request?: Request };
}

/** The pipeline for operations that are not HTTP requests to /graphql: those of sockets and of MCP tools. */
export interface Operations {
  /** Throws for a document that cannot be parsed. */
  parse(text: string): DocumentNode;
  validate(document: DocumentNode): readonly GraphQLError[];
  execute(operation: Operation): Promise<ExecutionResult>;
  subscribe(operation: Operation): Promise<Answer>;
  maskError(error: unknown): GraphQLError;
}

export type Operation = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'> & {
  contextValue: GraphQLContext;
};

export function createOperations(
  { getEnveloped }: Pick<YogaServerInstance<RequestContext, GraphQLContext>, 'getEnveloped'>,
  { mayIntrospect, limits, logger }: PipelineOptions,
): Operations {
  const enveloped = getEnveloped();
  const mask: Mask = (error) => maskError(error, logger, mayIntrospect);
  /** A tool call over HTTP has its deadline and its place already; any other operation gets them here. */
  const limited = async <T>({ contextValue }: Operation, work: () => Promise<T>): Promise<T | ExecutionResult> => {
    try {
      const { principal } = contextValue.memory;
      return await (currentDeadline() === undefined ? limits.run(callerKey(principal), work) : work());
    } catch (error) {
      return { errors: [mask(error)] };
    }
  };
  return {
    parse: (text) => enveloped.parse(text) as DocumentNode,
    validate: (document) => enveloped.validate(schema, document) as GraphQLError[],
    execute: (operation) =>
      limited(operation, async () => (await enveloped.execute({ schema, ...operation })) as ExecutionResult),
    subscribe: (operation) =>
      limited(operation, async () => (await enveloped.subscribe({ schema, ...operation })) as Answer),
    maskError: mask,
  };
}
