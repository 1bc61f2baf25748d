/**
 * One regular expression for all of the patterns, written so that PostgreSQL and JavaScript read it alike; null where
 * there is none.
 */
export function patternSource(patterns: readonly string[]): string | null {
  if (patterns.length === 0) return null;
  const sources = patterns.map((pattern) =>
    pattern
      .replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll('*', '.*')
      .replaceAll('?', '.'),
  );
  return `^(?:${sources.join('|')})$`;
}
