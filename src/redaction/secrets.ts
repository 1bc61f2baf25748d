import type { Finder, Meter } from './finding.ts';
import { endOfRun, findForm, type Form, type Span } from './scan.ts';

/** Keys and tokens whose makers gave them a beginning by which they are known. */
const known: Form = {
  start:
    /(?<![A-Za-z0-9])(?:A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|[rs]k_(?:live|test)_|whsec_|AIza|ya29\.|GOCSPX-|sk-|hf_|npm_|SG\.|do[opr]_v1_|pypi-|bmt_)/g,
  shape: new RegExp(
    `^(?:${[
      'A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])',
      'gh[pousr]_[A-Za-z0-9]{36}',
      'github_pat_[A-Za-z0-9_]{22}',
      'glpat-[\\w-]{20}',
      'xox[abeoprs]-[A-Za-z0-9-]{10}',
      'xapp-\\d-[A-Za-z0-9-]{10}',
      '[rs]k_(?:live|test)_[A-Za-z0-9]{16}',
      'whsec_[A-Za-z0-9+/]{24}',
      'AIza[\\w-]{35}(?![\\w-])',
      'ya29\\.[\\w-]{20}',
      'GOCSPX-[\\w-]{28}',
      'sk-(?:proj|svcacct|admin|or-v1|ant-[a-z]{2,8}\\d{2})-[\\w-]{20}',
      'sk-[A-Za-z0-9]{32}',
      'hf_[A-Za-z0-9]{30}',
      'npm_[A-Za-z0-9]{36}',
      'SG\\.[\\w-]{22}\\.[\\w-]{43}',
      'do[opr]_v1_[a-f0-9]{64}',
      'pypi-[\\w-]{50}',
      'bmt_[\\w-]{43}',
    ].join('|')})`,
  ),
  longest: 120,
  tail: /[\w-]*/y,
};

const slackWebhook: Form = {
  start: /hooks\.slack\.com\/services\//g,
  shape: /^(hooks\.slack\.com\/services\/)T\w{6,16}\/B\w{6,16}\/\w{16,64}/,
  longest: 140,
};

/** Only the password of it: which server it is for is worth remembering. */
const connectionString: Form = {
  start: /:\/\//g,
  shape: /^(:\/\/[^\s:/@"'<>]{0,128}:)([^\s/"'<>]{1,256})(?=@[^\s@/])/,
  longest: 400,
  read: ({ 2: password = '' }) => (isPlaceholder(password) ? null : password),
};

const bearer: Form = {
  start: /(?<![A-Za-z])(?:bearer|basic) /gi,
  shape: /^((?:bearer|basic) {1,3})(?=[\w.~+/-]{0,63}\d)[\w.~+/-]{16,64}/i,
  longest: 80,
  tail: /[\w.~+/=-]*/y,
};

const passwordWords = 'passwor[dt]|passwd|pwd|passphrase|kennwort|contraseña';
const keyWords = 'secret|token|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key';

/** `password: …`, `"client_secret": "…"`, `TOKEN=…`. The name of it is kept. */
const assignment: Form = {
  start: new RegExp(`(?:${passwordWords}|${keyWords})`, 'gi'),
  shape: new RegExp(
    `^((?<name>${passwordWords}|${keyWords})(?:[_-]?(?:key|token))?\\\\?["'\`]?[ \\t]{0,3}(?<sign>=>|:=|=|:)[ \\t]{0,3}(?<quote>\\\\?["'\`])?)` +
      `(?<value>(?<=["'\`])[^"'\`\\n\\\\]{4,256}(?=\\\\?["'\`])|(?<!["'\`])[^\\s"'\`,;&)\\]}>\\\\]{4,256})`,
    'i',
  ),
  longest: 600,
  read: (match, rest) => {
    const { name = '', sign = '', quote, value = '' } = match.groups ?? {};
    const isPassword = new RegExp(`^(?:${passwordWords})$`, 'i').test(name);
    const isExplicit = quote !== undefined || sign !== ':';
    return isAssigned(value, { isPassword, isExplicit, isLast: /^[)\]}.,; \t]{0,5}(?:\n|$)/.test(rest) })
      ? value
      : null;
  },
};

interface Assignment {
  isPassword: boolean;
  /** In quotation marks, or after an equals sign: prose has a colon and a word. */
  isExplicit: boolean;
  /** Nothing comes after it on its line. */
  isLast: boolean;
}

function isAssigned(value: string, { isPassword, isExplicit, isLast }: Assignment): boolean {
  if (isPlaceholder(value)) return false;
  if (!isPassword && value.length < 8) return false;
  if (isExplicit) return isPassword || !/\s/.test(value);
  const isNoWord = /\d|[^\p{L}.!?…-]|\p{L}\p{Lu}/u.test(value) && !/^\p{Lu}+$/u.test(value);
  return isNoWord || (isPassword && isLast);
}

/** What stands where a secret was, or will be. */
function isPlaceholder(value: string): boolean {
  return (
    /^(?:[<${%=([]|process\.env|os\.environ|[a-z][a-z0-9+.-]{1,20}:\/\/|\d{4}-\d{2}-\d{2}(?!\d))/i.test(value) ||
    /^(?:[*•x.#_-]+|\d{1,7}(?:\.\d+)?%?|null|none|true|false|undefined|required|optional|string|unset|empty)$/i.test(
      value,
    )
  );
}

/** Whether a value under this name, in structured data, is a secret for its name alone. */
export function isSecretUnder(name: string, value: string): boolean {
  const isPassword = passwordName.test(name);
  if (!isPassword && !keyName.test(name)) return false;
  return value.length >= 4 && isAssigned(value, { isPassword, isExplicit: true, isLast: true });
}

const passwordName = new RegExp(`(?:${passwordWords})$`, 'i');
const keyName = new RegExp(`(?:${keyWords})(?:[_-]?(?:key|token))?$`, 'i');

const tokenRun = /[\w-]*/y;

/** Three parts with dots between them, the first two of which are JSON. */
function findWebTokens(text: string, meter: Meter): Span[] {
  const spans: Span[] = [];
  meter.steps += text.length;
  for (const { index: start } of text.matchAll(/(?<![\w-])eyJ/g)) {
    const head = endOfRun(text, start, tokenRun, meter);
    if (head - start < 10 || !text.startsWith('.eyJ', head)) continue;
    const body = endOfRun(text, head + 1, tokenRun, meter);
    if (text[body] !== '.') continue;
    const end = endOfRun(text, body + 1, tokenRun, meter);
    if (end - body > 8) spans.push({ start, end, canonical: text.slice(start, end) });
  }
  return spans;
}

const pemStart = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const pemEnd = /-----END [A-Z ]{0,40}-----/y;
/** Of one that was cut: what could still be of it. */
const pemRun = /[A-Za-z0-9+/=\s\\]*/y;

function findPrivateKeys(text: string, meter: Meter): Span[] {
  const spans: Span[] = [];
  meter.steps += text.length;
  pemStart.lastIndex = 0;
  for (let head = pemStart.exec(text); head !== null; head = pemStart.exec(text)) {
    const end = endOfPem(text, pemStart.lastIndex, meter);
    spans.push({ start: head.index, end, canonical: text.slice(head.index, end).replace(/\s+/g, '') });
    pemStart.lastIndex = end;
  }
  return spans;
}

/** The next line of hyphens is its end, or the beginning of another. */
function endOfPem(text: string, from: number, meter: Meter): number {
  const hyphens = text.indexOf('-----', from);
  meter.steps += (hyphens < 0 ? text.length : hyphens) - from;
  pemEnd.lastIndex = hyphens;
  const end = hyphens < 0 ? null : pemEnd.exec(text);
  return end === null ? endOfRun(text, from, pemRun, meter) : hyphens + end[0].length;
}

const forms = [known, slackWebhook, connectionString, bearer, assignment];

export const findSecrets: Finder = (text, meter) =>
  [
    ...findPrivateKeys(text, meter),
    ...findWebTokens(text, meter),
    ...forms.flatMap((form) => findForm(text, form, meter)),
  ].map((span) => ({ ...span, kind: 'secret' }));
