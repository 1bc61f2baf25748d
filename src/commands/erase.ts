import { chooseTenants } from './choose-tenants.ts';
import type { MemoryCore } from '../create-memory.ts';
import { memoryTypes, type MemoryType } from '../db/tables.ts';
import { invalidInput } from '../shared/errors.ts';
import { recordReadByHand } from '../memory/accesses.ts';
import { createTenantContext, type MemoryContext } from '../memory/context.ts';
import { eraseMemory, eraseSubject, type Erasure } from '../memory/erasure/erasure.ts';
import {
  planMemoryErasure,
  planSubjectErasure,
  type ErasureCounts,
  type ErasurePlan,
} from '../memory/erasure/plan-erasure.ts';
import type { MemoryReference } from '../memory/links/links.ts';
import { checkOneOf } from '../memory/values.ts';

export interface EraseOptions {
  tenant: string;
  memory?: string;
  subject?: string;
  includeDerived?: boolean;
  includeMentions?: string;
  dryRun?: boolean;
  confirm?: string;
}

type Print = (line: string) => void;

/** Erases as admin: a process that can open the database could do so anyway. */
export async function eraseByHand(core: MemoryCore, options: EraseOptions, print: Print): Promise<void> {
  const { tenant, memory, subject, confirm } = options;
  if ((memory === undefined) === (subject === undefined)) {
    throw invalidInput('memory', 'either --memory or --subject', { memory, subject });
  }
  await chooseTenants(core.db, tenant);
  const context = { ...createTenantContext(core, tenant), actor: 'command line' };
  if (options.dryRun === true || confirm === undefined) {
    const asked = subject === undefined ? memoryInput(options) : subjectInput(options);
    const ids = 'id' in asked ? [asked.id] : [];
    await recordReadByHand(core.db, context, { operation: 'erasurePlan', asked, ids });
    return printPlan(await planOf(context, options), print);
  }
  const erasure =
    subject === undefined
      ? await eraseMemory(context, { ...memoryInput(options), confirm })
      : await eraseSubject(context, { ...subjectInput(options), confirm });
  printErasure(erasure, print);
}

function planOf(context: MemoryContext, options: EraseOptions): Promise<ErasurePlan> {
  return options.subject === undefined
    ? planMemoryErasure(context, memoryInput(options))
    : planSubjectErasure(context, subjectInput(options));
}

function memoryInput({ memory = '', includeDerived }: EraseOptions): MemoryReference & { includeDerived?: boolean } {
  const [type = '', id = '', ...rest] = memory.split('/');
  if (rest.length > 0 || id === '')
    throw invalidInput('memory', 'a type, a slash and a UUID, as in fact/0198…', memory);
  return {
    type: checkOneOf('memory', type, memoryTypes),
    id,
    ...(includeDerived !== undefined && { includeDerived }),
  };
}

function subjectInput({ subject = '', includeMentions }: EraseOptions): {
  subject: string;
  includeMentions: MemoryType[];
} {
  const names = (includeMentions ?? '').split(',').filter((name) => name.trim() !== '');
  return { subject, includeMentions: names.map((name) => checkOneOf('include-mentions', name.trim(), memoryTypes)) };
}

function printPlan({ memories, related, counts, confirmation, remaining }: ErasurePlan, print: Print): void {
  for (const { type, id } of memories) print(`would erase ${type}/${id}`);
  for (const { type, id } of related) print(`would leave ${type}/${id}`);
  if (remaining > 0) print(`${remaining} more are left for another erasure after this one`);
  print(`would touch: ${describeCounts(counts)}`);
  print(`${memories.length} memories; nothing was changed; confirmation ${confirmation}`);
}

/** The database keeps no order of names. */
const countNames = ['memories', 'events', 'links', 'applications', 'receipts', 'idempotencyKeys', 'runs'] as const;

function describeCounts(counts: Partial<ErasureCounts>): string {
  return countNames.map((name) => `${name} ${counts[name] ?? 0}`).join(', ');
}

function printErasure({ id, memories, counts }: Erasure, print: Print): void {
  for (const memory of memories as unknown as MemoryReference[]) print(`erased ${memory.type}/${memory.id}`);
  print(`erasure ${id}: ${describeCounts(counts as Partial<ErasureCounts>)}`);
}
