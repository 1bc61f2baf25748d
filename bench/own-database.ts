import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** Does the work in a database of its own on that server, which is gone afterwards. */
export async function withOwnDatabase<T>(url: string, work: (own: string) => Promise<T>): Promise<T> {
  const name = `butler_bench_${randomBytes(4).toString('hex')}`;
  const own = new URL(url);
  own.pathname = `/${name}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
    return await work(own.toString());
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}
