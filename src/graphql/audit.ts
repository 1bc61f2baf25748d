import { createHash } from 'node:crypto';
import {
  getOperationAST,
  GraphQLError,
  Kind,
  print,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { validate as isUuid } from 'uuid';
import { MemoryError } from '../shared/errors.ts';
import { isRecorded, type Access, type AccessKind } from '../memory/accesses.ts';
import type { GraphQLContext } from './context.ts';

type Run<Result> = (args: ExecutionArgs) => Promise<Result> | Result;

/**
 * What every door runs operations by: who asks is written down where that is due, before anything is read; and who may
 * only read in a tenant that is not its own writes nothing.
 */
export function audited<Result>(run: Run<Result>): (args: ExecutionArgs) => Promise<Result | ExecutionResult> {
  return async (args) => {
    try {
      await admit(args);
    } catch (error) {
      return { errors: [new GraphQLError('refused', { originalError: error as Error })] };
    }
    return run(args);
  };
}

async function admit({ document, operationName, variableValues, contextValue }: ExecutionArgs): Promise<void> {
  const { memory, recordAccess } = contextValue as GraphQLContext;
  const operation = getOperationAST(document, operationName);
  // Of several operations none was chosen: nothing will be run.
  if (!operation) return;
  const { principal } = memory;
  const kind = kindOf(operation);
  if (!isRecorded(principal, kind)) return;
  const operations = [...new Set(rootFields(document, operation.selectionSet))];
  if (principal.visit === undefined && operations.every(tellsNothing)) return;
  await recordAccess(memory, { kind, ...describe(document, variableValues ?? {}), operations });
  if (kind === 'write' && principal.visit?.mayWrite === false) throw mayOnlyRead(principal.tenantId);
}

function kindOf({ operation }: OperationDefinitionNode): AccessKind {
  const kinds = { query: 'read', mutation: 'write', subscription: 'feed' } as const;
  return kinds[operation];
}

/** Of the schema and of the server; nothing that anybody stored. */
function tellsNothing(field: string): boolean {
  return field.startsWith('__') || field === 'health';
}

function rootFields(document: DocumentNode, { selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(document, selection.selectionSet);
    const fragment = document.definitions.find(
      (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? rootFields(document, fragment.selectionSet) : [];
  });
}

const idsKept = 100;

function describe(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): Pick<Access, 'ids' | 'digest'> {
  const texts = textsIn(variables);
  visit(document, { StringValue: ({ value }) => void texts.push(value) });
  const ids = new Set(texts.filter((text) => isUuid(text.split(':').at(-1))));
  const asked = JSON.stringify([document.loc?.source.body ?? print(document), variables]);
  return { ids: [...ids].slice(0, idsKept), digest: createHash('sha256').update(asked).digest('hex') };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function mayOnlyRead(tenantId: string): MemoryError {
  return new MemoryError('FORBIDDEN', `the grant is to read in tenant ${tenantId}; given a write`, {
    hint: 'A token made with --across-write may write there too.',
  });
}
