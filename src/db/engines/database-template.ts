import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.ts';
import { readMigrations, type Migration } from '../migrate.ts';

/**
 * A build makes an embedded database once, with every migration applied and no row in it, and ships it: to create and
 * migrate one takes seconds of CPU time. docs/decisions/0005-a-template-of-the-database.md says what its copies share.
 */
const templateFolder: string = join(packageRoot, 'dist', 'database-template');

/** The template of this version; null where the build made none, or made one for other migrations or packages. */
export async function findTemplate(folder = templateFolder, migrations?: Migration[]): Promise<string | null> {
  const file = templateFile(folder, migrations ?? (await readMigrations()));
  return existsSync(file) ? file : null;
}

/** Named by a digest of all that decides what is in it, so that no other is ever taken for it. */
export function templateFile(folder: string, migrations: readonly Migration[]): string {
  const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const packages = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector', 'pg-boss'];
  const parts = [
    ...packages.map((name) => `${name} ${dependencies[name]}`),
    ...migrations.map(({ name, checksum }) => `${name} ${checksum}`),
  ];
  return join(folder, `${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)}.br`);
}
