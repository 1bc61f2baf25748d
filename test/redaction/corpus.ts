import type { FindingKind } from '../../src/redaction/finding.ts';

/**
 * Made up by hand. Nothing here opens anything; keys are written in two parts, so that no scanner of repositories takes
 * them for some that do.
 */
const key = (...parts: string[]): string => parts.join('');
const letters = 'aB3dE5gH7jK9mN1pQ4rS6tU8vW0xY2zA';

export interface Example {
  text: string;
  /** What is left of it with every kind masked. */
  kept: string;
  kind: FindingKind;
}

const example = (kind: FindingKind, text: string, kept: string): Example => ({ kind, text, kept });

const secretAlone = (secret: string): Example =>
  example('secret', `Use ${secret} for now`, 'Use [redacted:secret] for now');

export const jsonWebToken = key('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiJidXRsZXIifQ', '.c2lnbmF0dXJlLW9mLWl0');

const privateKey = [
  key('-----BEGIN RSA PRIVATE', ' KEY-----'),
  'MIIEowIBAAKCAQEAq7BFUpkGp3+LQmlQ',
  'Yx2eqzDV+xeG8kx/sQFV18S5JhzGeIJN',
  key('-----END RSA PRIVATE', ' KEY-----'),
].join('\n');

const secrets: Example[] = [
  ...[
    key('AKIA', 'Q3EGUVWXYZ234567'),
    key('ASIA', 'Q3EGUVWXYZ234567'),
    key('ghp_', letters, 'abcd1234'),
    key('gho_', letters, 'abcd1234'),
    key('github_pat_', '11ABCDEFG0', letters, '_', letters),
    key('glpat-', letters.slice(0, 20)),
    key('xoxb-', '123456789012-', letters.slice(0, 24)),
    key('sk_live_', letters.slice(0, 24)),
    key('rk_test_', letters.slice(0, 24)),
    key('whsec_', letters),
    key('AIza', 'SyD', letters),
    key('ya29.', letters),
    key('GOCSPX-', letters.slice(0, 28)),
    key('sk-', letters, 'abcdefgh12345678'),
    key('sk-proj-', letters, '_', letters),
    key('sk-ant-api03-', letters, '-', letters, 'AA'),
    key('hf_', letters),
    key('npm_', letters, 'abcd'),
    key('SG.', letters.slice(0, 22), '.', letters, letters.slice(0, 11)),
    key('bmt_', letters, letters.slice(0, 11)),
    jsonWebToken,
    privateKey,
  ].map(secretAlone),
  example(
    'secret',
    'postgres://app:s3cr3t@db.example:5432/memory',
    'postgres://app:[redacted:secret]@db.example:5432/memory',
  ),
  example(
    'secret',
    'amqp://guest:p@ss,w0rd@queue.example/ is down',
    'amqp://guest:[redacted:secret]@queue.example/ is down',
  ),
  example(
    'secret',
    key('https://hooks.slack.com/services/', 'T01ABCDEF/B01ABCDEF/', letters.slice(0, 24)),
    'https://hooks.slack.com/services/[redacted:secret]',
  ),
  example('secret', 'Authorization: Bearer a1b2c3d4e5f6g7h8i9j0', 'Authorization: Bearer [redacted:secret]'),
  example('secret', 'password: hunter2', 'password: [redacted:secret]'),
  example('secret', 'The Wi-Fi password: swordfish', 'The Wi-Fi password: [redacted:secret]'),
  example('secret', 'DB_PASSWORD=correcthorse', 'DB_PASSWORD=[redacted:secret]'),
  example('secret', '{"password": "two words"}', '{"password": "[redacted:secret]"}'),
  example('secret', "client_secret: 'f00ba7f00ba7'", "client_secret: '[redacted:secret]'"),
  example(
    'secret',
    'https://a.example/?token=abc123def456&page=2',
    'https://a.example/?token=[redacted:secret]&page=2',
  ),
  example(
    'secret',
    'aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz',
    'aws_secret_access_key = [redacted:secret]',
  ),
  example('secret', 'Passwort: Sommer2026!', 'Passwort: [redacted:secret]'),
];

const cards: Example[] = [
  ...[
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    '4111111111111111',
    '5555555555554444',
    '2223003122003222',
    '3782 822463 10005',
    '378282246310005',
    '30569309025904',
    '6011 1111 1111 1117',
    '3530111333300000',
    '6200000000000005',
  ].map((card) => example('card', `Paid with ${card}, thanks`, 'Paid with [redacted:card], thanks')),
  example('card', 'Card 4111 1111 1111 1111 12/28 123', 'Card [redacted:card] 12/28 123'),
  example('card', 'On 3 March: 4111111111111111.', 'On 3 March: [redacted:card].'),
];

const ibans: Example[] = [
  ...[
    'DE89 3704 0044 0532 0130 00',
    'DE89370400440532013000',
    'de89370400440532013000',
    'GB29 NWBK 6016 1331 9268 19',
    'FR14 2004 1010 0505 0001 3M02 606',
    'NO93 8601 1117 947',
    'CH93 0076 2011 6238 5295 7',
    'ES9121000418450200051332',
  ].map((iban) => example('iban', `Send it to ${iban} soon`, 'Send it to [redacted:iban] soon')),
  example('iban', 'NO93 8601 1117 947 ABCD 1234', '[redacted:iban] ABCD 1234'),
];

const nationalIds: Example[] = [
  '536-90-4399',
  '536 90 4399',
  '86095742719',
  '86 095 742 719',
  '12345678Z',
  'X1234567L',
  'RSSMRA85T10A562S',
  'AB123456C',
  'AB 12 34 56 C',
  '255081416802538',
  '2 55 08 14 168 025 38',
  '529.982.247-25',
  '756.9217.0769.85',
].map((id) => example('national_id', `It is ${id}, she said`, 'It is [redacted:national_id], she said'));

const emails: Example[] = ['jo@example.com', 'Jo.Doe+tea@mail.example.co.uk', "o'brien@example.org"].map((email) =>
  example('email', `Write to ${email}.`, 'Write to [redacted:email].'),
);

const phones: Example[] = [
  '+49 170 1234567',
  '+1 (415) 555-0132',
  '+442071838750',
  '(415) 555-0132',
  '415-555-0132',
].map((phone) => example('phone', `Call ${phone} at noon`, 'Call [redacted:phone] at noon'));

export const positives: Example[] = [...secrets, ...cards, ...ibans, ...nationalIds, ...emails, ...phones];

/** What looks like one of them, and is none; with every kind looked for but addresses and phone numbers. */
export const lookAlikes: string[] = [
  '019a0000-0000-7000-8000-000000000001',
  '550e8400-e29b-41d4-a716-446655440000',
  'fact:019a0000-0000-7000-8000-000000000001',
  'commit 90677e3f2a1b4c5d6e7f8091a2b3c4d5e6f70819',
  'sha256 afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  '2026-03-01T12:00:00.000Z',
  'from 2026-03-01 to 2026-04-30',
  'timestamp 1763330000000, in microseconds 1763330000000000',
  'order 4012345678901234',
  'order 1234 5678 9012 3456',
  'tracking 1Z999AA10123456784',
  'EAN 4006381333931',
  'ISBN 978-3-16-148410-0',
  'version 10.20.30.40, port 8150',
  'the 192.168.178.201 and fe80::1ff:fe23:4567:890a',
  'pi is 3.14159265358979323846',
  'call extension 4711, room 12-34-567',
  'DE89 3704 0044 0532 0130 01',
  'DE12 ROOM 1234 FLOOR 5',
  '000-12-3456 and 666-12-3456 and 912-12-3456 and 123-00-4567',
  'AB123456X and GB123456A',
  '12345678A',
  'RSSMRA85T10A562X',
  'phone 08912345678',
  'max_tokens=4000 and token_budget: 3000',
  'tokens: 123456789',
  'The password: changed yesterday, says the admin',
  'Password: required',
  'password: ********',
  'token: <your token>',
  'API_KEY=$API_KEY',
  'secret: ${SECRET_OF_THE_HOUSE}',
  'Secret: everything about the party',
  'Token: https://docs.example.com/tokens',
  'token expiry: 2026-03-01',
  'He is a bearer of good news, a basic understanding of it',
  'http://localhost:8150/graphql and postgres://app@db.example/memory',
  'http://proxy.example:8080/@user/page',
  'sk-learn, scikit-learn and sk-this-is-a-name-of-a-branch',
  'AKIA is a prefix, eyJ another, ghp_ a third',
  'eyJ.eyJ.eyJ',
  '-----BEGIN CERTIFICATE-----',
  'password: [redacted:secret] and [redacted:card:0123456789ab]',
  'user@localhost, 3 eggs @ 20 cents',
];
