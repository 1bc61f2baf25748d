import { GraphQLError, type DocumentNode } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../shared/request-context.ts';
import { pagePolicy } from '../shared/security-headers.ts';
import type { GraphQLContext } from './context.ts';
import { maskError } from './errors.ts';
import { createPipeline, type PipelineOptions } from './execute.ts';
import { sendFrameIds } from './feeds.ts';
import { schema } from './schema.ts';

export type GraphQLHttpDoor = YogaServerInstance<RequestContext, GraphQLContext>;

export interface GraphQLHttpOptions extends PipelineOptions {
  /** Whether a browser that opens the endpoint gets the explorer. */
  graphiql: boolean;
  bodyLimitBytes: number;
  createContext: (requestContext: RequestContext) => GraphQLContext;
}

export function createGraphQLHttpDoor(options: GraphQLHttpOptions): GraphQLHttpDoor {
  const { mayIntrospect, graphiql, bodyLimitBytes, logger, createContext } = options;
  const explorer = createExplorer();
  return createYoga<RequestContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql,
    renderGraphiQL: async () => (await explorer()).page,
    logging: false,
    // Its default lets the pages of every site read the memory. src/http decides for all doors at once.
    cors: false,
    maxRequestBodySize: bodyLimitBytes,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: noCache },
    context: ({ requestId, subrequestId, segmentId, request }) => {
      const lastEventId = request.headers.get('last-event-id') || undefined;
      const context = { ...createContext({ requestId, subrequestId, segmentId }), lastEventId };
      return request.method === 'GET' ? withoutReferences(context) : context;
    },
    maskedErrors: { maskError: (error) => maskError(error, logger, mayIntrospect) },
    plugins: [rejectBrokenParameters, createPipeline(options), sendFrameIds, guardExplorer(explorer)],
  });
}

/** Yoga parses the JSON of a GET without handling its errors. */
const rejectBrokenParameters: Plugin = {
  onRequestParse: ({ requestParser, setRequestParser }) => {
    if (requestParser === undefined) return;
    setRequestParser(async (request) => {
      try {
        return await requestParser(request);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new GraphQLError('variables and extensions must be JSON (got something else)', {
          extensions: { http: { status: 400 } },
        });
      }
    });
  },
};

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

/** Caches no document that failed to parse: it may be megabytes long, and is not sent twice. */
const noCache = { get: (): undefined => undefined, set: (): undefined => undefined };

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
