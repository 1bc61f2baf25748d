import type { Finder } from './finding.ts';

const local = /[\p{L}\p{N}._%+'-]/u;
const domain = /^@((?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24})(?![\p{L}\p{N}_])/u;
const longestLocal = 64;
const longestDomain = 300;

/** Extends from each at sign as far to both sides as an address goes. */
export const findEmails: Finder = (text) => {
  const findings: ReturnType<Finder> = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (at - start < longestLocal && local.test(text[start - 1] ?? '')) start--;
    const window = text.slice(at, at + longestDomain);
    const found = start === at ? null : domain.exec(window);
    if (found === null) continue;
    const end = at + found[0].length;
    findings.push({ start, end, canonical: text.slice(start, end).toLowerCase() });
  }
  return findings;
};
