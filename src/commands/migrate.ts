import { databaseOptions } from '../begin-memory.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { prepareDatabase } from '../create-memory.ts';
import { openDatabase } from '../db/database.ts';
import { printLine } from './run.ts';

export async function migrate({ config }: LoadedConfig): Promise<void> {
  const db = await openDatabase(databaseOptions(config));
  try {
    const { applied, total } = await prepareDatabase(db, config);
    const done = db.isNew ? 'created' : applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`;
    printLine(`${db.engine} at ${db.location}: ${done}; ${total} migrations in all`);
  } finally {
    await db.close();
  }
}
