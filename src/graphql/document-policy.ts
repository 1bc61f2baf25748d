import { readFileSync } from 'node:fs';
import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  validate,
  type DocumentNode,
  type ValidationRule,
} from 'graphql';
import type { Config } from '../config/schema.ts';
import { describeGiven, MemoryError } from '../shared/errors.ts';
import { limitRootFields } from './root-fields.ts';
import { schema } from './schema.ts';

/** Which documents a client may send, the same over HTTP and over sockets. */
export interface DocumentPolicy {
  /** Beside those of the specification. */
  readonly rules: readonly ValidationRule[];
  /** The documents that clients name by the SHA-256 of their text; null when there are none. */
  readonly persisted: ReadonlyMap<string, string> | null;
  /** Whether errors may suggest names of the schema ("Did you mean"). */
  readonly suggestions: boolean;
  /** Whether other documents are refused. */
  readonly onlyPersisted: boolean;
  /** Whether a browser that comes to the endpoint gets the explorer. */
  readonly graphiql: boolean;
}

export function createDocumentPolicy({ butler, graphql }: Config): DocumentPolicy {
  const isDevelopment = butler.environment === 'development';
  const { introspection, graphiql, persistedOperations, onlyPersistedOperations, maxRootFields } = graphql;
  const mayIntrospect = introspection ?? isDevelopment;
  return {
    rules: [limitRootFields(maxRootFields), ...(mayIntrospect ? [] : [NoSchemaIntrospectionCustomRule])],
    suggestions: mayIntrospect,
    persisted: persistedOperations === undefined ? null : readPersisted(persistedOperations),
    onlyPersisted: onlyPersistedOperations,
    graphiql: graphiql ?? isDevelopment,
  };
}

/** Read once, at the start: a file that is broken, or does not fit the schema any more, is told then. */
function readPersisted(file: string): Map<string, string> {
  const key = 'butler.graphql.persisted_operations';
  let operations: unknown;
  try {
    operations = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new MemoryError('CONFIGURATION', `${key}: a file of JSON; given ${file}: ${(error as Error).message}`);
  }
  if (typeof operations !== 'object' || operations === null || Array.isArray(operations)) {
    throw new MemoryError('CONFIGURATION', `${key}: an object of documents by id; given ${describeGiven(operations)}`);
  }
  for (const [id, document] of Object.entries(operations)) checkPersisted(key, id, document);
  return new Map(Object.entries(operations) as [string, string][]);
}

function checkPersisted(key: string, id: string, document: unknown): void {
  const refuse = (reason: string): never => {
    throw new MemoryError(
      'CONFIGURATION',
      `${key}: documents that fit the schema; given ${describeGiven(id)}: ${reason}`,
    );
  };
  if (typeof document !== 'string') return refuse('not a text');
  try {
    const [problem] = validate(schema, parse(document));
    if (problem !== undefined) refuse(problem.message);
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    refuse((error as Error).message);
  }
}

export const persistedOnly = 'query: one of the persisted operations, by its id; given another document';

/** For sockets, where a document comes as text. */
export function refuseForeignDocument({ persisted, onlyPersisted }: DocumentPolicy, text: string): GraphQLError[] {
  if (!onlyPersisted || persisted === null) return [];
  return [...persisted.values()].includes(text) ? [] : [new GraphQLError(persistedOnly)];
}

export function validateDocument({ rules }: DocumentPolicy, document: DocumentNode): readonly GraphQLError[] {
  const problems = validate(schema, document);
  return problems.length > 0 ? problems : validate(schema, document, rules);
}
