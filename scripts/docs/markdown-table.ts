/** A table of Markdown, with its columns aligned as the formatter aligns them. The first row is the heading. */
export function renderTable(table: readonly (readonly string[])[]): string {
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const [heading, ...body] = table.map((row) => renderRow(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))));
  return [heading, renderRow(widths.map((width) => '-'.repeat(width))), ...body].join('\n');
}

const renderRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
