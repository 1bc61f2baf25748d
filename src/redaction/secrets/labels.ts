/**
 * The words that announce a secret. What a word announces decides how strictly the text after it is judged:
 * - `password`: may be any word, so the separator and the place decide;
 * - `key`: keys, tokens and secrets are made by machines, so a word of a language is none;
 * - `phrase`: several words, up to the end of the clause;
 * - `pin`: digits, and only those of cards, banks and SIMs. Door codes are stored on purpose.
 */
export type LabelClass = 'pin' | 'phrase' | 'key' | 'password';

const bank =
  'bank|card|debit|credit|visa|mastercard|amex|atm|sim|giro|girocard|ec|maestro|banking|bancomat|tarjeta|carte|karten|bankkarten?|kreditkarten?|konto';

const keyOwners =
  'api|app|application|access|account|admin|aes|auth|authentication|bot|client|consumer|decryption|deploy|deployment|encryption|' +
  'gpg|hmac|hotspot|ingest|integration|jwt|license server|master|network|pgp|pre-?shared|private|root|rsa|sas|secret|security|' +
  'server|service|session|shared|signature|signing|ssh|storage|stream|subscription|wallet|webhook|wi-?fi|wlan|wpa[23]?|write';

/** In the order in which they are tried at one place: a longer label before one that it begins with. */
const words: Record<LabelClass, readonly string[]> = {
  pin: [
    `(?<![\\p{L}\\p{N}])(?:${bank})[ -]?(?:card[ -]|account[ -])?pins?(?: ?codes?| ?numbers?)?(?!\\p{L})`,
    `(?<![\\p{L}\\p{N}])pins?(?: ?codes?| ?numbers?)? (?:of|for|to|from|on|meiner|der|zur|für|de|della|du)(?: \\p{L}{1,12}){0,3}? (?:${bank})(?: ?card| ?account)?(?!\\p{L})`,
    '(?<![\\p{L}\\p{N}])puks?',
  ],
  phrase: [
    'pass ?phrases?',
    '(?:seed|recovery|secret|mnemonic|backup|wallet)[ _-]?(?:recovery[ _-])?(?:phrase|words)',
    'mnemonic',
    'frase semilla',
  ],
  key: [
    'secrets?',
    'tokens?',
    'jeton',
    '(?<=_)auth',
    '(?<![\\p{L}\\p{N}_.-])(?<!(?:cache|primary|foreign|partition|sort|public|idempotency|row|object|map|lookup|host) )key',
    `(?:${keyOwners})[ _-]?keys?`,
    '(?:api|zugangs|netzwerk|sicherheits|wlan)[ -]?schlüssel',
    '(?:clave|llave)s? (?:api|de (?:api|acceso|cifrado|red))',
    "clés? (?:api|d['’]api|secrète|wi-?fi)",
    'chiave (?:api|segreta)',
    'chave (?:api|de api|secreta)',
    '(?:2fa|mfa|totp|otp|recovery|backup|two-factor|emergency|rescue|scratch|wiederherstellungs)[ _-]?(?:recovery |backup )?(?:codes?|keys?|seeds?)',
  ],
  password: [
    'passwords?',
    'passwds?',
    'passcodes?',
    'passw[oö]rt(?:er)?',
    'kennw[oö]rt(?:er)?',
    'contrase[ñn]as?',
    'mots? de passe',
    'senhas?',
    'palavras?[- ]passe',
    "parola (?:d['’]ordine|chiave)",
    'wachtwoord(?:en)?',
    'l[öø]senord(?:et)?',
    'passord(?:et)?',
    'adgangskoden?',
    'salasana',
    'has[łl][oa]',
    'heslo',
    'jelszó',
    'şifre',
    'парол[ья]',
    '密[码碼]',
    'パスワード',
    '비밀번호',
    'pwd',
    '(?:store|key|user|db|root|admin|ftp|mail|smtp|bind)_?(?:pass|pw)(?!\\p{L})',
    '(?<![\\p{L}\\p{N}])(?:pw|pass|psk|mdp|clave)',
    'identified (?:with \\w{1,30} )?by',
  ],
};

const classes = Object.keys(words) as LabelClass[];
const source = classes.map((name) => `(?<${name}>${words[name].join('|')})`).join('|');

/** What may still belong to the name: `secret_access_key`, `SECRET_KEY_BASE`, `API_TOKEN_2`. */
const suffix =
  '(?:[ _-]?(?:access|api|auth|client|keys?|tokens?|secrets?|password|base|value)(?![\\p{L}\\p{N}])){0,3}(?:[_-]?\\d{1,2}(?!\\d))?';

export const labelStart = new RegExp(source, 'giu');
const labelSuffix = new RegExp(suffix, 'iuy');
const wholeLabel = new RegExp(`^(?:${source})${suffix}$`, 'iu');
const endInLabel = new RegExp(`(?:${source})${suffix}$`, 'iu');

export interface Label {
  readonly kind: LabelClass;
  /** A word that also means something else: what follows must look like a secret by itself. */
  readonly isAmbiguous: boolean;
  /** The words of a sentence that are no passwords are known in English only. */
  readonly isEnglish: boolean;
}

export function readLabel(match: RegExpExecArray): Label {
  const kind = classes.find((name) => match.groups?.[name] !== undefined) ?? 'key';
  return {
    kind,
    isAmbiguous: /^(?:pass|clave|psk|key|auth)$/i.test(match[0]),
    isEnglish: /^(?:pass(?:word|wd|code)s?|pwd?)$/i.test(match[0]),
  };
}

/** Where the name of which a label is the beginning ends. */
export function endOfName(text: string, from: number): number {
  labelSuffix.lastIndex = from;
  return from + (labelSuffix.exec(text)?.[0].length ?? 0);
}

export function isLabel(text: string): boolean {
  return wholeLabel.test(text);
}

/** The label in which a name ends: `spring.datasource.password`, `dbPassword`. */
export function labelOfName(name: string): Label | null {
  const match = endInLabel.exec(name);
  return match === null ? null : readLabel(match);
}
