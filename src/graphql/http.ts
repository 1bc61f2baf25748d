import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { GraphQLError, validate, type DocumentNode, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Vigil } from '../auth/vigil.ts';
import { currentDeadline } from '../limits/deadline.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { RequestContext } from '../shared/request-context.ts';
import { pagePolicy } from '../shared/security-headers.ts';
import { audited } from './audit.ts';
import { documentTokenLimit } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { persistedOnly, type DocumentPolicy } from './document-policy.ts';
import { maskError } from './errors.ts';
import { sendFeedIds } from './feed-ids.ts';
import { limitFeeds, type Subscribe } from './limit-feeds.ts';
import { schema } from './schema.ts';

export type GraphQLHttpDoor = YogaServerInstance<RequestContext, GraphQLContext>;

export interface GraphQLHttpOptions {
  policy: DocumentPolicy;
  bodyLimitBytes: number;
  limits: Limits;
  vigil: Vigil;
  logger: Logger;
  createContext: (requestContext: RequestContext) => GraphQLContext;
}

export function createGraphQLHttpDoor(options: GraphQLHttpOptions): GraphQLHttpDoor {
  const { policy, bodyLimitBytes, limits, vigil, logger, createContext } = options;
  const explorer = createExplorer();
  return createYoga<RequestContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: policy.graphiql,
    renderGraphiQL: async () => (await explorer()).page,
    logging: false,
    // Its default lets the pages of every site read the memory. Which ones may is decided for all doors at once.
    cors: false,
    maxRequestBodySize: bodyLimitBytes,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: noCache },
    context: ({ requestId, subrequestId, segmentId, request }) => {
      const lastEventId = request.headers.get('last-event-id') || undefined;
      const context = { ...createContext({ requestId, subrequestId, segmentId }), lastEventId };
      return request.method === 'GET' ? withoutReferences(context) : context;
    },
    maskedErrors: { maskError: (error) => maskError(error, logger, policy) },
    plugins: [
      limitTokens,
      addRules(policy),
      ...persistedOperations(policy),
      endAtDeadline,
      auditQueries,
      limitSubscriptions(limits, vigil),
      sendFeedIds,
      guardExplorer(explorer),
    ],
  });
}

/** A page of another site can have a browser send a GET: it must not count as somebody who needed a memory. */
function withoutReferences(context: GraphQLContext): GraphQLContext {
  const flush = (): Promise<void> => context.references.flush();
  return { ...context, references: { enqueue: () => undefined, enqueueShown: () => undefined, flush } };
}

/** A parsed document takes some forty times its text: by number alone, a thousand long ones would fill the memory. */
const cachedCharacters = 500_000;

function createDocumentCache(): LRUCache<string, DocumentNode> {
  return new LRUCache({ maxSize: cachedCharacters, sizeCalculation: (_document, text) => Math.max(1, text.length) });
}

/** Whoever sends what cannot be parsed does not send it twice, and may send megabytes of it. */
const noCache = { get: (): undefined => undefined, set: (): undefined => undefined };

const limitTokens: Plugin = {
  onParse: ({ parseFn, setParseFn }) =>
    setParseFn((source, options) => parseFn(source, { ...options, maxTokens: documentTokenLimit })),
};

function addRules({ rules, suggestions }: DocumentPolicy): Plugin {
  return {
    onValidate: ({ addValidationRule, setValidationFn }) => {
      for (const rule of rules) addValidationRule(rule);
      // Yoga does not mask what validation says.
      if (!suggestions) setValidationFn(validateWithoutSuggestions);
    },
  };
}

const validateWithoutSuggestions: typeof validate = (schemaOf, document, rules, options) =>
  validate(schemaOf, document, rules, { ...options, hideSuggestions: true });

/** No further field is asked for once the caller has been told that it took too long. */
const endAtDeadline: Plugin = {
  onExecute: ({ args }) => void Object.assign(args, { signal: currentDeadline() }),
};

const auditQueries: Plugin = {
  onExecute: ({ executeFn, setExecuteFn }) => setExecuteFn(audited(executeFn as Execute)),
};

type Execute = (args: ExecutionArgs) => Promise<ExecutionResult>;

function limitSubscriptions(limits: Limits, vigil: Vigil): Plugin {
  return {
    onSubscribe: ({ args, subscribeFn, setSubscribeFn }) => {
      const { request } = args.contextValue;
      const ends = { hungUp: request.signal, vigil };
      const limited = limitFeeds(limits, audited(subscribeFn as Subscribe), ends);
      setSubscribeFn((subscription: ExecutionArgs) => limited(subscription).catch(tellStatus));
    },
  };
}

/** By now the request is an operation, so the refusal is an error of GraphQL; its status is what it is elsewhere. */
function tellStatus(error: unknown): never {
  if (!(error instanceof LimitError)) throw error;
  const { message, status, headers } = error;
  throw new GraphQLError(message, { originalError: error, extensions: { http: { status, headers } } });
}

interface Explorer {
  page: string;
  policy: string;
}

/**
 * Loaded and made when it is first asked for: the page has nine megabytes, and its module takes 45 MB of memory. The page
 * that Yoga has itself fetches scripts from the network.
 */
function createExplorer(): () => Promise<Explorer> {
  let explorer: Promise<Explorer> | undefined;
  return () => (explorer ??= renderExplorer());
}

async function renderExplorer(): Promise<Explorer> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const page = renderGraphiQL({ title: 'Butler Memory' });
  // Its editor writes styles as it goes, and starts workers from texts in the page.
  const directives = ["style-src 'unsafe-inline'", 'worker-src blob:', 'font-src data:', 'img-src data:'];
  return { page, policy: pagePolicy(page, [...directives, "connect-src 'self'"]) };
}

function guardExplorer(explorer: () => Promise<Explorer>): Plugin {
  return {
    onResponse: async ({ response }) => {
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
      if (isPage) response.headers.set('content-security-policy', (await explorer()).policy);
    },
  };
}

/** Named by `extensions.persistedQuery.sha256Hash`, as clients of automatic persisted queries do. */
function persistedOperations({ persisted, onlyPersisted }: DocumentPolicy): Plugin[] {
  if (persisted === null) return [];
  return [
    usePersistedOperations({
      getPersistedOperation: (id) => persisted.get(id) ?? null,
      allowArbitraryOperations: !onlyPersisted,
      customErrors: { persistedQueryOnly: persistedOnly },
    }),
  ];
}
