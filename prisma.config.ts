import { defineConfig } from 'prisma/config';

/** For operators who run `prisma migrate deploy`. Generating the client needs no address. */
const url = process.env['MIGRATION_DATABASE_URL'] ?? process.env['DATABASE_URL'];

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url !== undefined && { datasource: { url } }),
});
