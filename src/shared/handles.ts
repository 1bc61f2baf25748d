/**
 * A handle is a short name of a memory, made of the random end of its id: two letters, three digits, two letters, such as
 * "ab123cd". A tokenizer of the GPT family reads it as three tokens, where a UUID takes some twenty. In the rare case that
 * two memories of a tenant share one, three more digits tell them apart: "ab123cd045".
 */

/** Pairs of these are one token each; "j", "q" and "x" make pairs that are not. */
const letters = 'abcdefghiklmnoprstuvwyz';
const pairs = letters.length ** 2;
/** Hexadecimal digits of the id that a handle stands for, and how many more its longer form has. */
const digitsOfHandle = 7;
const digitsMore = 2;

export function handleOf(id: string): string {
  const number = Number.parseInt(id.slice(-digitsOfHandle), 16);
  const rest = Math.floor(number / pairs);
  return `${writePair(Math.floor(rest / 1000))}${padDigits(rest % 1000)}${writePair(number % pairs)}`;
}

/** For two memories that share a handle. */
export function longHandleOf(id: string): string {
  const more = id.slice(-digitsOfHandle - digitsMore, -digitsOfHandle);
  return `${handleOf(id)}${padDigits(Number.parseInt(more, 16))}`;
}

/** The end of the id that a handle stands for; null for a text that is no handle. */
export function readHandle(text: string): string | null {
  const found = /^([a-z]{2})(\d{3})([a-z]{2})(\d{3})?$/.exec(text.trim().toLowerCase());
  const [, first = '', digits = '', second = '', more] = found ?? [];
  const number = (readPair(first) * 1000 + Number(digits)) * pairs + readPair(second);
  const end = writeHexadecimal(number, digitsOfHandle);
  const start = more === undefined ? '' : writeHexadecimal(Number(more), digitsMore);
  return found === null || end === null || start === null ? null : `${start}${end}`;
}

function writePair(number: number): string {
  return `${letters[Math.floor(number / letters.length)] ?? ''}${letters[number % letters.length] ?? ''}`;
}

/** Not a number for a letter that no handle has. */
function readPair(pair: string): number {
  const first = letters.indexOf(pair.charAt(0));
  const second = letters.indexOf(pair.charAt(1));
  return first < 0 || second < 0 ? Number.NaN : first * letters.length + second;
}

function padDigits(number: number): string {
  return String(number).padStart(3, '0');
}

function writeHexadecimal(number: number, digits: number): string | null {
  return number < 16 ** digits ? number.toString(16).padStart(digits, '0') : null;
}
