import { createHash } from 'node:crypto';
import {
  getOperationAST,
  Kind,
  print,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type OperationDefinitionNode,
} from 'graphql';
import { validate as isUuid } from 'uuid';
import { MemoryError } from '../shared/errors.ts';
import { isRecorded, type Access } from '../memory/accesses.ts';
import type { GraphQLContext } from './context.ts';

/**
 * Writes the access record of an operation before anything is read, for callers whose accesses are recorded; rejects
 * writes under a grant that only reads in another tenant.
 */
export async function recordAccess(args: ExecutionArgs): Promise<void> {
  const { document, operationName, variableValues } = args;
  const { memory, recordAccess: record } = args.contextValue as GraphQLContext;
  const operation = getOperationAST(document, operationName);
  // With no operation chosen of several, nothing is run.
  if (!operation) return;
  const { principal } = memory;
  const kind = accessKinds[operation.operation];
  if (!isRecorded(principal, kind)) return;
  const operations = listRootFields(document, operation);
  if (principal.visit === undefined && operations.every(readsNoMemory)) return;
  await record(memory, { kind, ...describe(document, variableValues ?? {}), operations });
  if (kind === 'write' && principal.visit?.mayWrite === false) throw mayOnlyRead(principal.tenantId);
}

const accessKinds = { query: 'read', mutation: 'write', subscription: 'feed' } as const;

/** Fields about the schema and the server, not about stored data. */
function readsNoMemory(field: string): boolean {
  return field.startsWith('__') || field === 'health';
}

/** Visits each fragment once: fragments that spread others twice would take exponential time. */
function listRootFields(document: DocumentNode, { selectionSet }: OperationDefinitionNode): string[] {
  const fields = new Set<string>();
  const pending = [selectionSet];
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  for (const { selections } of pending) {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) pending.push(selection.selectionSet);
      else {
        const fragment = fragments.get(selection.name.value);
        fragments.delete(selection.name.value);
        if (fragment !== undefined) pending.push(fragment.selectionSet);
      }
    }
  }
  return [...fields];
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
  return new MemoryError(
    'FORBIDDEN',
    `the operation must be a read, as the grant is to read in tenant ${tenantId} (got a write)`,
    {
      hint: 'A token made with --across-write may write there too.',
    },
  );
}
