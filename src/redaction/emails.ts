import type { Finder } from './finding.ts';

const local = /[\p{L}\p{N}._%+'-]/u;
const domain = /^@((?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24})(?![\p{L}\p{N}_])/u;
const longestLocal = 64;
const longestDomain = 300;

/** From each at sign as far back and forth as an address goes. */
export const findEmails: Finder = (text, meter) => {
  const findings: ReturnType<Finder> = [];
  meter.steps += text.length;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (at - start < longestLocal && local.test(text[start - 1] ?? '')) start--;
    const window = text.slice(at, at + longestDomain);
    meter.steps += at - start + window.length;
    const found = start === at ? null : domain.exec(window);
    if (found === null) continue;
    const end = at + found[0].length;
    findings.push({ kind: 'email', start, end, canonical: text.slice(start, end).toLowerCase() });
  }
  return findings;
};
