import { describe, expect, it } from 'vitest';
import { findAll } from '../../src/redaction/find.ts';
import { findingKinds, type FindingKind } from '../../src/redaction/finding.ts';
import { lookAlikes, positives } from './corpus.ts';

const usual = findingKinds.filter((kind) => kind !== 'email' && kind !== 'phone');

function mask(text: string, kinds: readonly FindingKind[] = findingKinds): string {
  return findAll(text, kinds).reduceRight(
    (masked, { kind, start, end }) => `${masked.slice(0, start)}[redacted:${kind}]${masked.slice(end)}`,
    text,
  );
}

describe('what must not be kept', () => {
  it.each(positives)('is found: $text', ({ text, kept, kind }) => {
    expect(mask(text, [kind])).toBe(kept);
  });

  it.each(positives)('is found among all kinds: $text', ({ text, kept }) => {
    expect(mask(text)).toBe(kept);
  });

  it.each(positives)('is found once, and not in what is left: $text', ({ text, kept }) => {
    expect(findAll(text, findingKinds)).toHaveLength(1);
    expect(findAll(kept, findingKinds)).toEqual([]);
  });

  it.each(positives)('is found at the end, in brackets and beside another: $text', ({ text, kept, kind }) => {
    expect(mask(`(${text})`, [kind])).toBe(`(${kept})`);
    expect(mask(`${text}\n${text}`, [kind])).toBe(`${kept}\n${kept}`);
  });

  it.each(lookAlikes)('is not seen where it is not: %s', (text) => {
    expect(mask(text, usual)).toBe(text);
    expect(mask(`(${text})`, usual)).toBe(`(${text})`);
  });

  it('has one canonical form, however it is written', () => {
    const canonical = (text: string): string | undefined => findAll(text, findingKinds)[0]?.canonical;
    expect(canonical('4111 1111 1111 1111')).toBe(canonical('4111-1111-1111-1111'));
    expect(canonical('DE89 3704 0044 0532 0130 00')).toBe(canonical('de89370400440532013000'));
    expect(canonical('536-90-4399')).toBe(canonical('536 90 4399'));
  });

  it('is one where two overlap, and nothing of either is left', () => {
    expect(mask('postgres://app:s3cr3t@db.example/memory')).not.toMatch(/s3cr3t/);
    expect(mask('IBAN DE89 3704 0044 0532 0130 00')).toBe('IBAN [redacted:iban]');
  });
});

describe('hostile text', () => {
  const seeds = [
    'a',
    ' ',
    '4',
    '4111 ',
    '4111-1111-',
    '4111111111111112 ',
    'eyJ',
    'eyJ.',
    'eyJaaaaaaaaaaaa.eyJaaaaaaaaaaaa.',
    'AKIA',
    'sk-',
    'sk-ant-api03-',
    'password',
    'password: ',
    'password=',
    'token:"',
    '://a:',
    '://a:b@',
    '@',
    'a@a',
    'a.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n-----END',
    '-',
    'DE89',
    'DE89 3704 ',
    '12-34-',
    '1 23 ',
    '+1 2',
    'bearer ',
    '"\'',
    '\u00e4\u{1f600}',
    'password is ',
    'password for a ',
    'password was changed from a1b2c3 to ',
    'password:\n',
    'my password is aaaa1 and ',
    'aaaaaa1 is my password ',
    'api_key: ',
    'token token ',
    '_auth=',
    '?key=',
    '"password\\":\\"',
    'passphrase: a ',
    'pin of my ',
    'login a/',
    'curl -u a:',
    'mysql ',
    'cookie: a=b; ',
    'authorization: ',
    'seed is aaa aaa ',
    'WIFI:T:a;',
    '12345678:A',
    'ssn ',
    '密码',
  ];
  const stepsFor = (seed: string, length: number): number => {
    const text = seed.repeat(Math.ceil(length / seed.length)).slice(0, length);
    return countCharactersRead(() => findAll(text, findingKinds));
  };

  it.each(seeds)('of %j takes work that grows as it does, and no faster', (seed) => {
    const [small, large] = [stepsFor(seed, 20_000), stepsFor(seed, 200_000)];
    expect(small).toBeGreaterThan(20_000);
    expect(large / small).toBeLessThan(10.5);
  });
});

/** Counts the characters that regular expressions and indexOf pass over while the work runs. */
function countCharactersRead(work: () => unknown): number {
  // oxlint-disable typescript/unbound-method -- called with their own `this`
  const { exec } = RegExp.prototype;
  const { indexOf } = String.prototype;
  let steps = 0;
  // oxlint-disable no-extend-native -- restored below
  RegExp.prototype.exec = function (text) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = exec.call(this, text);
    const missed = this.sticky ? 1 : text.length - from;
    steps += match === null ? missed : match.index + match[0].length - from;
    return match;
  };
  String.prototype.indexOf = function (wanted, from = 0) {
    const place = indexOf.call(this, wanted, from);
    steps += (place < 0 ? this.length : place) - from;
    return place;
  };
  try {
    work();
  } finally {
    RegExp.prototype.exec = exec;
    String.prototype.indexOf = indexOf;
  }
  // oxlint-enable no-extend-native, typescript/unbound-method
  return steps;
}
