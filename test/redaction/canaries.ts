import type { Config } from '../../src/config/schema.ts';
import type { Database } from '../../src/db/database.ts';
import type { FindingKind } from '../../src/redaction/finding.ts';
import { testConfig } from '../support/config.ts';
import { jsonWebToken } from './corpus.ts';

/** One of each kind, and several secrets, that nothing but a leak can bring into a table or a log. */
export const canaries: Record<string, { kind: FindingKind; text: string; secret: string }> = {
  key: { kind: 'secret', ...alone(['ghp', '_CanaryQ7wertyuiopasdfghjklzxcvbnm012345'].join('')) },
  webToken: { kind: 'secret', ...alone(jsonWebToken) },
  password: { kind: 'secret', text: 'password: Xk9canaryQz77!', secret: 'Xk9canaryQz77' },
  connection: {
    kind: 'secret',
    text: 'postgres://app:Pw4canaryLm55@db.example/tea',
    secret: 'Pw4canaryLm55',
  },
  card: { kind: 'card', ...alone('4539 1488 0343 6467') },
  iban: { kind: 'iban', ...alone('DE44 5001 0517 5407 3249 31') },
  nationalId: { kind: 'national_id', ...alone('RSSMRA85T10A562S') },
  email: { kind: 'email', ...alone('canary.jo@tea.example.com') },
  phone: { kind: 'phone', ...alone('+49 170 5550188') },
};

function alone(text: string): { text: string; secret: string } {
  return { text, secret: text };
}

export const canaryCount = Object.keys(canaries).length;

/** A sentence with all of them. */
export const canaryText = `The user said ${Object.values(canaries)
  .map(({ text }) => text)
  .join(' , and ')} .`;

export function redactionConfig(settings: Partial<Config['redaction']> = {}, env: Record<string, string> = {}): Config {
  const config = testConfig(env);
  return { ...config, redaction: { ...config.redaction, emails: 'mask', phones: 'mask', ...settings } };
}

/** However it is cased, spaced and punctuated: indexes of words and keys are made of what is left of that. */
const squash = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '');

export function leaksIn(text: string): string[] {
  const squashed = squash(text);
  return Object.entries(canaries).flatMap(([name, { secret }]) => (squashed.includes(squash(secret)) ? [name] : []));
}

/** Every row of every table, of the queue too, as text; but for the vectors, which are numbers. */
export async function dumpTables(db: Database): Promise<string[]> {
  return db.asOwner(async (client) => {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(`
      SELECT format('%I.%I', table_schema, table_name) AS name, string_agg(quote_ident(column_name), ', ') AS columns
      FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE' AND udt_name <> 'vector'
      GROUP BY 1`);
    const dump: string[] = [];
    for (const { name, columns } of tables) {
      const { rows } = await client.query<{ text: string }>(`SELECT row(${columns})::text AS text FROM ${name}`);
      dump.push(...rows.map(({ text }) => `${name}: ${text}`));
    }
    return dump;
  });
}
