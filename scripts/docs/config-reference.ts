import { renderTable } from './markdown-table.ts';
import { settings } from '../../src/config/schema.ts';

export interface ConfigReferenceRow {
  readonly key: string;
  readonly allowed: string;
  /** As written in the file; empty for a key that has no default. */
  readonly default: string;
  /** Empty for a key that only the file sets. */
  readonly environment: string;
  readonly description: string;
}

/** Every key of the configuration, in the order of the schema. */
export function configReference(): ConfigReferenceRow[] {
  return settings.map(({ key, allowed, environment, description, schema }) => ({
    key,
    allowed,
    default: JSON.stringify(schema.parse(undefined)) ?? '',
    environment: environment ?? '',
    description,
  }));
}

/** The table of docs/configuration.md. */
export function renderConfigReference(): string {
  const rows = configReference().map((row) => [
    code(row.key),
    row.allowed,
    code(row.default),
    code(row.environment),
    row.description,
  ]);
  return renderTable([['Key', 'Must be', 'Default', 'Environment', 'Meaning'], ...rows]);
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
