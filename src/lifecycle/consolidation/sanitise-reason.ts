const longestReason = 300;
/** From so many characters on, words of an episode in a message count as its text. */
const shortestQuote = 12;
/** A whole episode that is shorter than this says nothing that a message could give away. */
const shortestWord = 4;
/** What is looked at: the rest would be cut anyway. */
const longestLook = 2000;

/**
 * A reason as it may be kept and shown: it came from a model server, a program or a driver, and may hold anything. One
 * line without addresses, paths, secrets, statements and the text of the episodes.
 */
export function sanitiseReason(reason: string, episodeTexts: readonly string[] = []): string {
  const line = withoutTexts(reason.slice(0, longestLook).replace(/\s+/g, ' '), episodeTexts);
  const clean = patterns
    .reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line)
    .replaceAll('\0', '')
    .toWellFormed()
    .trim();
  if (clean === '') return 'no reason was given';
  return clean.length > longestReason ? `${clean.slice(0, longestReason).toWellFormed()}…` : clean;
}

/** In this order: an address holds what looks like a path, and a statement holds names. */
const patterns: [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi, '[address]'],
  [/\b(?:authorization|x-api-key)\b["']?\s*[:=]?\s*["']?(?:(?:bearer|basic)\s+)?[^\s"',;]+/gi, '[secret]'],
  [/\b(?:bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}/gi, '[secret]'],
  [
    /\b(?:api[_ -]?key|key|token|password|passwd|secret|credential)s?\b["']?\s*(?:[:=]|is\b)\s*["']?[^\s"',;]+/gi,
    '[secret]',
  ],
  [/\b(?:sk|pk|rk|ghp|gho|xox[abp]|AKIA|AIza|ya29|eyJ)[-_A-Za-z0-9.]{8,}/g, '[secret]'],
  [/\b[A-Za-z0-9+/_-]{40,}={0,2}/g, '[secret]'],
  [
    /\b(?:select|insert\s+into|update|delete\s+from|with|alter\s+table|create\s+table|drop\s+table)\b\s.*?\b(?:from|values|set|where|table|as)\b.*$/gi,
    '[statement]',
  ],
  [/(?<![\w.])(?:~|\.{1,2})?(?:\/[\w.@+~-]+){2,}\/?(?::\d+)*/g, '[path]'],
  [/\b[A-Z]:\\[^\s"'<>|]+/gi, '[path]'],
];

/** Also parts of a text: a message may quote where it stumbled. */
function withoutTexts(reason: string, texts: readonly string[]): string {
  const isQuoted = Array.from({ length: reason.length }, () => false);
  for (const text of texts) markQuoted(reason, text.replace(/\s+/g, ' ').trim(), isQuoted);
  let clean = '';
  for (const [place, quoted] of isQuoted.entries()) {
    if (!quoted) clean += reason[place];
    else if (isQuoted[place - 1] !== true) clean += '[text]';
  }
  return clean;
}

/** Stretch by stretch of the shortest length, so that the work grows with the lengths and not with their product. */
function markQuoted(reason: string, text: string, isQuoted: boolean[]): void {
  const length = Math.min(shortestQuote, text.length);
  if (length < shortestWord) return;
  const stretches = new Set<string>();
  for (let start = 0; start + length <= text.length; start++) stretches.add(text.slice(start, start + length));
  for (let start = 0; start + length <= reason.length; start++) {
    if (stretches.has(reason.slice(start, start + length))) isQuoted.fill(true, start, start + length);
  }
}
