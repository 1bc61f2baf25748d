import type { LoadedConfig } from '../config/load-config.ts';
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
import { actor, chooseTenants, printLine, withCore } from './run.ts';

export interface EraseOptions {
  tenant: string;
  memory?: string;
  subject?: string;
  includeDerived?: boolean;
  includeMentions?: string;
  dryRun?: boolean;
  confirm?: string;
}

/** Works as admin: a caller that can start a process on the database may erase. */
export async function erase({ config }: LoadedConfig, options: EraseOptions): Promise<void> {
  const { tenant, memory, subject, confirm } = options;
  if ((memory === undefined) === (subject === undefined)) {
    throw invalidInput('memory', 'either --memory or --subject', { memory, subject });
  }
  await withCore(config, async (core) => {
    await chooseTenants(core.db, tenant);
    const context = { ...createTenantContext(core, tenant), actor };
    if (options.dryRun === true || confirm === undefined) {
      const asked = subject === undefined ? readMemory(options) : readSubject(options);
      const ids = 'id' in asked ? [asked.id] : [];
      await recordReadByHand(core.db, context, { operation: 'erasurePlan', asked, ids });
      return printPlan(await plan(context, options));
    }
    const { value } =
      subject === undefined
        ? await eraseMemory(context, { ...readMemory(options), confirm })
        : await eraseSubject(context, { ...readSubject(options), confirm });
    printErasure(value);
  });
}

function plan(context: MemoryContext, options: EraseOptions): Promise<ErasurePlan> {
  return options.subject === undefined
    ? planMemoryErasure(context, readMemory(options))
    : planSubjectErasure(context, readSubject(options));
}

function readMemory({ memory = '', includeDerived }: EraseOptions): MemoryReference & { includeDerived?: boolean } {
  const [type = '', id = '', ...rest] = memory.split('/');
  if (rest.length > 0 || id === '')
    throw invalidInput('memory', 'a type, a slash and a UUID, as in fact/0198…', memory);
  return {
    type: checkOneOf('memory', type, memoryTypes),
    id,
    ...(includeDerived !== undefined && { includeDerived }),
  };
}

function readSubject({ subject = '', includeMentions }: EraseOptions): {
  subject: string;
  includeMentions: MemoryType[];
} {
  const names = (includeMentions ?? '').split(',').filter((name) => name.trim() !== '');
  return { subject, includeMentions: names.map((name) => checkOneOf('include-mentions', name.trim(), memoryTypes)) };
}

function printPlan({ memories, related, counts, confirmation, remaining }: ErasurePlan): void {
  for (const { type, id } of memories) printLine(`would erase ${type}/${id}`);
  for (const { type, id } of related) printLine(`would leave ${type}/${id}`);
  if (remaining > 0) printLine(`${remaining} more are left for another erasure after this one`);
  printLine(`would touch: ${describeCounts(counts)}`);
  printLine(`${memories.length} memories; nothing was changed; confirmation ${confirmation}`);
}

/** In this order: JSON of the database has none. */
const countNames = ['memories', 'events', 'links', 'applications', 'receipts', 'idempotencyKeys', 'runs'] as const;

function describeCounts(counts: Partial<ErasureCounts>): string {
  return countNames.map((name) => `${name} ${counts[name] ?? 0}`).join(', ');
}

function printErasure({ id, memories, counts }: Erasure): void {
  for (const memory of memories as unknown as MemoryReference[]) printLine(`erased ${memory.type}/${memory.id}`);
  printLine(`erasure ${id}: ${describeCounts(counts as Partial<ErasureCounts>)}`);
}
