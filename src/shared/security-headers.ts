import { createHash } from 'node:crypto';

/** A page may frame nothing, be framed by nobody and load nothing, unless its policy says so. */
const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const securityHeaders: Record<string, string> = {
  'content-security-policy': nothing,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** What an answer says already it says on purpose. */
export function setSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(securityHeaders)) {
    if (!headers.has(name)) headers.set(name, value);
  }
}

/** For a page of ours: what it brings itself, by its hash, and what is said besides. */
export function pagePolicy(html: string, directives: readonly string[] = []): string {
  const own = (['script', 'style'] as const).flatMap((element) => {
    const isSaid = directives.some((directive) => directive.startsWith(`${element}-src`));
    const text = isSaid ? undefined : findText(html, element);
    return text === undefined ? [] : [`${element}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`];
  });
  return [nothing, ...own, ...directives].join('; ');
}

/** Of the one such element in the page. */
function findText(html: string, element: string): string | undefined {
  const [opening, closing] = [`<${element}>`, `</${element}>`];
  const start = html.indexOf(opening);
  return start === -1 ? undefined : html.slice(start + opening.length, html.indexOf(closing, start));
}
