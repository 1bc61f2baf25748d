import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { LoadedConfig } from '../config/load-config.ts';
import { MemoryError } from '../shared/errors.ts';
import { recordReadByHand } from '../memory/accesses.ts';
import { createTenantContext, type MemoryContext } from '../memory/context.ts';
import { exportAll } from '../memory/erasure/export-subject.ts';
import { actor, chooseTenants, withCore } from './run.ts';

export interface ExportOptions {
  tenant: string;
  subject: string;
  output?: string;
}

/** Writes one JSON document as it is read. Overwrites no file; a new one is readable for its owner alone. */
export async function exportSubject(
  { config }: LoadedConfig,
  { tenant, subject, output }: ExportOptions,
): Promise<void> {
  await withCore(config, async (core) => {
    await chooseTenants(core.db, tenant);
    const context = { ...createTenantContext(core, tenant), actor };
    await recordReadByHand(core.db, context, { operation: 'exportSubject', asked: { subject }, ids: [] });
    const document = Readable.from(write(context, subject));
    if (output === undefined) return pipeline(document, process.stdout, { end: false });
    return pipeline(document, createWriteStream(output, { flags: 'wx', mode: 0o600 })).catch((error: unknown) => {
      throw isThere(error) ? alreadyThere(output) : error;
    });
  });
}

function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

function alreadyThere(output: string): MemoryError {
  return new MemoryError('CONFLICT', `output must be a file that is not there yet (got ${output}, which is there)`, {
    hint: 'Nothing was written. Name another file, or move that one away.',
  });
}

async function* write(context: MemoryContext, subject: string): AsyncGenerator<string> {
  const { principal, now } = context;
  const head = { subject, tenant: principal.tenantId, exportedAt: now().toISOString() };
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`;
  let separator = '\n';
  for await (const memory of exportAll(context, subject)) {
    yield `${separator}${JSON.stringify(memory)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}
