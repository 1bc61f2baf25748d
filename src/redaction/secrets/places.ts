import type { Form } from '../scan.ts';
import { isMixed, isPlaceholder, isStrongValue } from './values.ts';

/** Secrets that no word announces: the place in an address, a header or a command says what they are. */

const unlessPlaceholder: NonNullable<Form['read']> = ({ 2: value = '' }) => (isPlaceholder(value) ? null : value);
const ifMixed: NonNullable<Form['read']> = ({ 2: value = '' }) =>
  isMixed(value) && !isPlaceholder(value) ? value : null;

/** Only the password: which server it is for is worth remembering. */
const connectionString: Form = {
  start: /:\/\//g,
  shape: /^(:\/\/[^\s:/@"'<>]{0,128}:)([^\s/"'<>]{1,256})(?=@[^\s@/])/,
  longest: 400,
  read: unlessPlaceholder,
};

/** `?key=…`, and signatures in the address of a file, which grant access to it. */
const queryParameter: Form = {
  start: /[?&](?:key|sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)=/gi,
  shape: /^([?&][\w-]{3,22}=)([\w.~%+/=-]{16,400})/,
  longest: 440,
  read: ifMixed,
};

const bearer: Form = {
  start: /(?<![A-Za-z])(?:bearer|basic) /gi,
  shape: /^((?:bearer|basic) {1,3})(?=[\w.~+/-]{0,63}\d)[\w.~+/-]{16,64}/i,
  longest: 80,
  tail: /[\w.~+/=-]*/y,
};

const authorization: Form = {
  start: /authorization\\{0,8}["']?\s{0,2}[:=]/gi,
  shape: /^(authorization\\{0,8}["']?\s{0,2}[:=]\s{0,3}\\{0,8}["']?(?:[a-z][\w-]{2,20} {1,3})?)([\w.~+/=:-]{8,400})/i,
  longest: 460,
  read: ifMixed,
};

/** The first cookie that is long enough to be the key of a session. */
const cookie: Form = {
  start: /cookie\\{0,8}["']?\s{0,2}[:=]/gi,
  shape:
    /^(cookie\\{0,8}["']?\s{0,2}[:=]\s{0,3}\\{0,8}["']?(?:[\w.-]{1,40}=[^\s;]{0,15};\s?){0,6}[\w.-]{1,40}=)([\w.~%+/=-]{16,400})/i,
  longest: 800,
  read: ifMixed,
};

const argument = `((?<=["'])[^"'\\n]{3,128}|[^\\s"'|]{3,128})`;

/** `<command> … <option>`, after which the password stands. */
const commands: readonly (readonly [command: string, option: string])[] = [
  ['curl|wget|https?|xh', `\\s(?:-u|--user|--proxy-user)[ =]?["']?[^\\s:"'@]{1,64}:`],
  ['sshpass', `\\s-p ?["']?`],
  ['(?:docker|podman|nerdctl|buildah|skopeo|helm registry|oc|az|cf) login', `\\s-p[ =]?["']?`],
  ['mysql\\w{0,6}|mariadb(?:-\\w{1,8})?', `\\s-p["']?(?=[^\\s-])`],
  ['mongo(?:sh|dump|restore|export|import)?|influx|7z [ax]', `\\s-p ?["']?(?=[^\\s-])`],
  ['redis-cli|etcdctl', `\\s(?:-a|--pass) ["']?`],
  ['ldap\\w{3,8}', `\\s-w ["']?`],
  ['smbclient|rpcclient|mount', `\\s(?:-U |-o (?:[^\\s]{0,60},)?user=)["']?[^\\s%"']{1,64}(?:%|,pass=)`],
  ['unzip|zip', `\\s-P ?["']?`],
  ['ssh-keygen', `\\s-[NP] ["']?`],
  ['openssl', `\\s-pass(?:in|out)? pass:["']?`],
  ['htpasswd -\\w{0,4}b\\w{0,4}', `\\s[^\\s]{1,80}\\s[^\\s]{1,64}\\s["']?`],
];

const commandLine: Form = {
  start: new RegExp(`(?<![\\w./-])(?:${commands.map(([command]) => command).join('|')}) `, 'g'),
  shape: new RegExp(
    `^((?:${commands.map(([command, option]) => `(?:${command})(?= )[^\\n]{0,160}?${option}`).join('|')}))${argument}`,
  ),
  longest: 480,
  read: ({ 2: value = '' }) => (isPlaceholder(value) || /^\d{1,5}(?::\d+)?$/.test(value) ? null : value),
};

/** `echo … | sudo -S`. */
const pipedPassword: Form = {
  start: /(?<![\w-])echo /g,
  shape: new RegExp(
    `^(echo (?:-n )?["']?)${argument}(?=["']? ?\\| ?(?:sudo -S|[^\\n|]{0,60}(?:password-stdin|passwd|cryptsetup|kinit)))`,
  ),
  longest: 260,
  read: unlessPlaceholder,
};

/** A name and its password: `credentials: deploy / …`, `login admin:…`. Without a sign it must look like nothing else. */
const pair: Form = {
  start:
    /(?<!\p{L})(?:credentials?|creds|log-?ins?|zugangsdaten|anmeldedaten|credenciales|identifiants|(?:wi-?fi|wlan)(?!:\S))(?![\p{L}_])/giu,
  shape:
    /^([\p{L}-]{4,14}(?: [^:=\n]{1,40}?)?(?<sign>:|=| is| are| sind)? ?["'`]?[^\s/:|,"'`]{1,64} ?[/:|] ?)([^\s/"'`][^\s"'`]{4,128})/iu,
  longest: 280,
  read: ({ 3: value = '', groups }) => {
    const isSure = /\p{L}/u.test(value) && /\d/.test(value) && /[!#$%&*@^~+=_]/.test(value);
    return (isSure || (groups?.['sign'] !== undefined && isStrongValue(value))) && !isPlaceholder(value) ? value : null;
  },
};

/** `u: admin p: …`. */
const shortPair: Form = {
  start: /(?<![\p{L}\p{N}_])(?:u|usr|user(?:name)?|login) ?[:=]/giu,
  shape: /^([a-z]{1,8} ?[:=] ?[^\s,;|]{1,64}[\s,;/|]{1,4}p ?[:=] ?)([^\s,;]{4,128})/i,
  longest: 240,
  read: unlessPlaceholder,
};

/** What a code on a router's sticker says. */
const wifiCode: Form = {
  start: /WIFI:[A-Z]:/g,
  shape: /^(WIFI:(?:[A-OQ-Z]:[^;\n]{0,64};){0,4}P:)([^;\n]{4,64})/,
  longest: 360,
  read: unlessPlaceholder,
};

/** The words from which a wallet is restored: twelve to twenty-four, all short and in small letters. */
const seedWords: Form = {
  start: /(?<!\p{L})(?:seed|mnemonic|recovery|wallet)(?!\p{L})/giu,
  shape: /^([a-z]{4,8}(?: words| phrase)?(?: is|[:=]) ?["'`]?)([a-z]{3,8}(?: [a-z]{3,8}){11,23})(?![a-z])/i,
  longest: 280,
};

export const placeForms: readonly Form[] = [
  connectionString,
  queryParameter,
  bearer,
  authorization,
  cookie,
  commandLine,
  pipedPassword,
  pair,
  shortPair,
  wifiCode,
  seedWords,
];
