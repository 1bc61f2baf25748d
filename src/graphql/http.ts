import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { RequestContext } from '../request-id.ts';
import { documentTokenLimit } from './builder.ts';
import type { GraphQLContext } from './context.ts';
import { persistedOnly, type DocumentPolicy } from './document-policy.ts';
import { maskError } from './errors.ts';
import { schema } from './schema.ts';

export type GraphQLHttpDoor = YogaServerInstance<RequestContext, GraphQLContext>;

export interface GraphQLHttpOptions {
  policy: DocumentPolicy;
  bodyLimitBytes: number;
  logger: Logger;
  createContext: (requestContext: RequestContext) => GraphQLContext;
}

export function createGraphQLHttpDoor(options: GraphQLHttpOptions): GraphQLHttpDoor {
  const { policy, bodyLimitBytes, logger, createContext } = options;
  return createYoga<RequestContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: policy.graphiql ? { title: 'Butler Memory' } : false,
    // The page that Yoga renders by itself fetches its scripts from the network.
    renderGraphiQL,
    logging: false,
    // Its default lets the pages of every site read the memory.
    cors: false,
    maxRequestBodySize: bodyLimitBytes,
    context: ({ requestId, subrequestId, segmentId }) => createContext({ requestId, subrequestId, segmentId }),
    maskedErrors: { maskError: (error) => maskError(error, logger) },
    plugins: [limitTokens, addRules(policy), ...persistedOperations(policy)],
  });
}

const limitTokens: Plugin = {
  onParse: ({ parseFn, setParseFn }) =>
    setParseFn((source, options) => parseFn(source, { ...options, maxTokens: documentTokenLimit })),
};

function addRules({ rules }: DocumentPolicy): Plugin {
  return {
    onValidate: ({ addValidationRule }) => {
      for (const rule of rules) addValidationRule(rule);
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
