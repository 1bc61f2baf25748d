import { openDatabase } from '../../src/db/database.ts';
import type { DatabaseOptions } from '../../src/db/engines/engine.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readInput } from './run-typescript.ts';

/** A second process that starts on the same database. Prints what it applied. */
const database = await openDatabase(readInput() as DatabaseOptions);
const report = await migrate(database);
await database.close();
console.log(JSON.stringify(report));
