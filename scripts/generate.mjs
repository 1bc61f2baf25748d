// Generates what is not committed (the Prisma client, typed GraphQL documents) and what is (schema.graphql, the table in
// docs/configuration.md). `--client` makes only the Prisma client, which is all that a build needs.
import { runSteps } from './run.mjs';

const clientOnly = process.argv.includes('--client');

// Prisma would download an engine that generating does not use, and fail where there is no network. Any program that
// exists satisfies it.
const prisma = { command: ['prisma', 'generate'], env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath } };

runSteps([
  prisma,
  ...(clientOnly
    ? []
    : [
        { command: ['node', '--import', 'tsx', 'scripts/write-generated-docs.ts'] },
        { command: ['graphql-codegen', '--config', 'codegen.ts'] },
      ]),
]);
