// Generates what is not committed (the Prisma client, typed GraphQL documents) and what is (schema.graphql, the table in
// docs/configuration.md). `--uncommitted` leaves the committed files alone, so that a check can still find them stale.
import { runSteps } from './run.mjs';

// Prisma would download an engine that generating does not use, and fail where there is no network. Any program that
// exists satisfies it.
const prismaClient = { command: ['prisma', 'generate'], env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath } };
const committedFiles = { command: ['node', '--import', 'tsx', 'scripts/write-generated-docs.ts'] };
const typedDocuments = { command: ['graphql-codegen', '--config', 'codegen.ts', '--silent'] };

runSteps([prismaClient, ...(process.argv.includes('--uncommitted') ? [] : [committedFiles]), typedDocuments]);
