import type { Database } from '../../src/db/database.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { MemoryReference } from '../../src/memory/links/links.ts';
import { ReferenceQueue } from '../../src/memory/references.ts';

/** Counts references and waits until they are written. */
export async function countReferences(
  context: MemoryContext,
  references: readonly MemoryReference[],
  sessionId: string | null = null,
): Promise<void> {
  const db = { forTenant: () => context.db } as unknown as Database;
  const queue = new ReferenceQueue({ ...context, db });
  queue.enqueue(context, references, sessionId);
  await queue.stop();
}
