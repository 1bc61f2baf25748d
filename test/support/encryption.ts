import { pino, type Logger } from 'pino';
import type { Config } from '../../src/config/schema.ts';
import type { Database } from '../../src/db/database.ts';
import { testConfig } from './config.ts';

/** Keys for tests, told apart by a number. */
export function masterKey(number: number): string {
  return Buffer.alloc(32, number).toString('base64');
}

/** The defaults, with what is medical encrypted. */
export function encryptedConfig(encryption: Partial<Config['encryption']> = {}): Config {
  return { ...testConfig(), encryption: { predicates: ['medical_*'], masterKey: masterKey(1), ...encryption } };
}

/** All that is logged, down to the least severe level. */
export function captureLog(): { logger: Logger; text(): string } {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  return { logger, text: () => lines.join('') };
}

/** Every row of every table, also of the queue, as text; bytes in hexadecimal. */
export async function dumpDatabase(db: Database): Promise<string> {
  return db.asOwner(async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
       WHERE relkind IN ('r', 'p', 'm') AND nspname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const dumps: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      dumps.push(name, ...rows.map(({ row }) => row));
    }
    return dumps.join('\n');
  });
}

/** A text as it might be found: in plain, in hexadecimal and in base64. */
export function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  return [text, bytes.toString('hex'), bytes.toString('base64').replace(/.{2}=*$/, '')];
}
