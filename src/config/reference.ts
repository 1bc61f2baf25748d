import { settings } from './schema.ts';

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

/** The Markdown table of docs/configuration.md, with its columns aligned as the formatter aligns them. */
export function renderConfigReference(): string {
  const rows = configReference().map((row) => [
    code(row.key),
    row.allowed,
    code(row.default),
    code(row.environment),
    row.description,
  ]);
  const table = [['Key', 'Must be', 'Default', 'Environment', 'Meaning'], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const [heading, ...body] = table.map((row) => renderRow(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))));
  return [heading, renderRow(widths.map((width) => '-'.repeat(width))), ...body].join('\n');
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

const renderRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
