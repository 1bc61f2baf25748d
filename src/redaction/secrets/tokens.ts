import type { Form } from '../scan.ts';

/**
 * Tokens that are known by how they begin: a prefix, then the characters that must follow. `tail` takes what is left of
 * the token, so a body states only as many characters as tell it from other text.
 */
const prefixed: readonly (readonly [prefix: string, body: string])[] = [
  // Cloud providers
  ['A[KS]IA', '[A-Z2-7]{16}(?![A-Za-z0-9])'],
  ['AIza', '[\\w-]{35}(?![\\w-])'],
  ['ya29\\.', '[\\w-]{20}'],
  ['1//0', '[\\w-]{30}'],
  ['GOCSPX-', '[\\w-]{20}'],
  ['LTAI', '[A-Za-z0-9]{16}'],
  ['AKID', '[A-Za-z0-9]{32}'],
  ['do[opr]_v1_', '[a-f0-9]{64}'],
  ['HRKU-', '[\\w-]{32}'],
  ['nfp_', '[A-Za-z0-9]{32}'],
  ['sb[ps]_', '[a-f0-9]{40}'],
  ['sb_secret_', '[\\w-]{20}'],
  ['fo1_|FlyV1 ', '[\\w-]{32}'],
  ['tskey-[a-z]{2,12}-', '[A-Za-z0-9]{6,20}-?[A-Za-z0-9]{12}'],
  ['dapi', '[a-f0-9]{32}(?![A-Za-z0-9])(?:-\\d)?'],
  ['pscale_(?:tkn|pw|oauth)_', '[\\w.-]{30}'],
  ['hv[sbr]\\.', '[\\w-]{20}'],
  ['dp\\.(?:pt|st|ct|sa|scim|audit)\\.', '(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40}'],
  ['pul-', '[a-f0-9]{40}'],
  // Code hosting and package registries
  ['gh[pousr]_', '[A-Za-z0-9]{36}'],
  ['github_pat_', '[A-Za-z0-9_]{22}'],
  ['gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-', '[\\w-]{20}'],
  ['ATATT3', '[\\w=-]{40}'],
  ['ATBB', '[A-Za-z0-9]{24}'],
  ['npm_', '[A-Za-z0-9]{36}'],
  ['pypi-', '[\\w-]{50}'],
  ['rubygems_', '[a-f0-9]{48}'],
  ['dckr_(?:pat|oat)_', '[\\w-]{20}'],
  ['cio', '[A-Za-z0-9]{32}(?![A-Za-z0-9])'],
  // Chat and mail
  ['xox[abceoprs]-', '[A-Za-z0-9-]{10}'],
  ['xoxe\\.xox[bp]-', '[A-Za-z0-9-]{20}'],
  ['xapp-', '\\d-[A-Za-z0-9-]{10}'],
  ['SG\\.', '[\\w-]{16,32}\\.[\\w-]{16,64}'],
  ['key-', '[a-f0-9]{32}(?![A-Za-z0-9])'],
  ['SK', '[a-f0-9]{32}(?![A-Za-z0-9])'],
  ['xkeysib-', '[a-f0-9]{64}'],
  ['re_', '[A-Za-z0-9]{8}_[A-Za-z0-9]{16}'],
  // Payment and commerce
  ['[rs]k_(?:live|test)_', '[A-Za-z0-9]{16}'],
  ['whsec_', '[A-Za-z0-9+/]{24}'],
  ['sq0(?:atp|csp|idp)-', '[\\w-]{22}'],
  ['shp(?:at|ca|pa|ss|tka)_', '[A-Fa-f0-9]{32}'],
  ['access-(?:production|development|sandbox)-', '[a-f0-9-]{36}'],
  ['(?:EZ[AT]K)', '[A-Za-z0-9]{54}'],
  ['FLWSECK[-_]', '[\\w-]{12}'],
  ['shippo_(?:live|test)_', '[a-f0-9]{40}'],
  ['access_token\\$', '(?:production|sandbox)\\$[a-z0-9]{16}\\$[a-f0-9]{32}'],
  // Language models
  ['sk-', '(?:proj|svcacct|admin|or-v1|lf|ant-[a-z]{2,8}\\d{2})-[\\w-]{20}'],
  ['sk-', '[A-Za-z0-9]{32}'],
  ['hf_', '[A-Za-z0-9]{30}'],
  ['gsk_', '[A-Za-z0-9]{40}'],
  ['r8_', '[A-Za-z0-9]{30}'],
  ['pplx-', '[A-Za-z0-9]{32}'],
  ['xai-', '[A-Za-z0-9]{40}'],
  ['bmt_', '[\\w-]{43}'],
  // Monitoring and tools
  ['gl(?:sa|c)_', '[\\w+/=-]{30,160}'],
  ['NRA[KL]-|NRII-|NRJS-', '[\\w-]{19}'],
  ['sntry[su]_', '[\\w+/=-]{30,160}'],
  ['sq[aup]_', '[a-f0-9]{40}'],
  ['PMAK-', '[a-f0-9]{24}-[a-f0-9]{34}'],
  ['lin_(?:api|oauth)_', '[A-Za-z0-9]{32}'],
  ['ntn_', '[A-Za-z0-9]{40}'],
  ['secret_', '[A-Za-z0-9]{43}(?![A-Za-z0-9])'],
  ['fig[dor]_', '[\\w-]{36}'],
  ['pat', '[A-Za-z0-9]{14}\\.[a-f0-9]{64}'],
  ['CFPAT-', '[\\w-]{40}'],
  ['tfp_', '[\\w.-]{40}'],
  ['rdme_', '[a-z0-9]{60}'],
  ['pnu_', '[A-Za-z0-9]{30}'],
  ['aio_', '[A-Za-z0-9]{28}'],
  ['ops_eyJ', '[\\w-]{60}'],
  ['AGE-SECRET-KEY-1', '[A-Z0-9]{50}'],
  ['sk\\.eyJ', '[\\w-]{20}\\.[\\w-]{16}'],
  ['EAA[A-Z]', '[A-Za-z0-9]{60}'],
  ['sl\\.', '[\\w-]{100}'],
];

/** A prefix must stand alone on its left: `task-` does not begin a key. */
const prefixedToken: Form = {
  start: new RegExp(`(?<![A-Za-z0-9])(?:${[...new Set(prefixed.map(([prefix]) => prefix))].join('|')})`, 'g'),
  shape: new RegExp(`^(?:${prefixed.map(([prefix, body]) => `(?:${prefix})${body}`).join('|')})`),
  longest: 200,
  tail: /[\w-]*(?:[.=][\w-]{6,}){0,3}/y,
};

/** `<id of the bot>:<35 characters>`, also after `/bot` in an address. */
const telegramToken: Form = {
  start: /(?<!\d)\d{8,10}:A/g,
  shape: /^\d{8,10}:A[\w-]{34}(?![\w-])/,
  longest: 48,
};

/** The id of the bot in base64, a time and a signature. */
const discordToken: Form = {
  start: /(?<![\w.-])[MNO][\w-]{22}/g,
  shape: /^[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,45}(?![\w.-])/,
  longest: 90,
};

const mailchimpKey: Form = {
  start: /(?<![A-Za-z0-9])[a-f0-9]{32}-us\d/g,
  shape: /^[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])/,
  longest: 40,
};

/** As Vault wrote them before version 1.10. */
const vaultToken: Form = {
  start: /(?<![\w.-])[sb]\.[A-Za-z0-9]{4}/g,
  shape: /^[sb]\.(?=[A-Za-z0-9]{0,23}\d)(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}(?![\w.-])/,
  longest: 30,
};

const azureClientSecret: Form = {
  start: /\dQ~/g,
  shape: /^\dQ~[\w.~-]{31,34}(?![\w~-])/,
  longest: 44,
};

const terraformToken: Form = {
  start: /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\./g,
  shape: /^[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,80}/,
  longest: 110,
};

/** The address of a webhook allows to post there. */
const webhook: Form = {
  start: /(?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com)\//g,
  shape:
    /^((?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks\/\d{16,20}|webhook\.office\.com)\/)[\w@-]{6,80}(?:\/[\w-]{6,80}){0,4}/,
  longest: 480,
};

export const tokenForms: readonly Form[] = [
  prefixedToken,
  telegramToken,
  discordToken,
  mailchimpKey,
  vaultToken,
  azureClientSecret,
  terraformToken,
  webhook,
];
