// Reference implementation of rules.md. normalise(raw) -> the name to look up in predicates.json.
// Pure surface rules; no table access. Idempotent: normalise(normalise(x)) === normalise(x).

const words = (s) => new Set(s.trim().split(/\s+/));

// R2: one token for another, at any position.
const TOKENS = Object.fromEntries(
  `
favourite favorite|fav favorite|fave favorite|favourites favorites|colour color|colours colors|licence license|licences licenses
organisation organization|organisations organizations|org organization|programme program|centre center|neighbour neighbor
neighbours neighbors|tyre tire|tyres tires|metre meter|jewellery jewelry|enrolment enrollment|cancelled canceled
cancelation cancellation|labour labor|behaviour behavior|speciality specialty|adviser advisor|counsellor counselor|traveller traveler
practise practice|analyse analyze|catalogue catalog|grey gray|theatre theater|aluminium aluminum|moustache mustache
telephone phone|tel phone|cellphone mobile|cellphones mobiles|handphone mobile|addr address|adress address|nr number|num number|nbr number
mum mother|mom mother|mummy mother|mommy mother|mums mothers|moms mothers|dad father|daddy father|dads fathers
grandma grandmother|granny grandmother|gran grandmother|nana grandmother|grandmas grandmothers
grandpa grandfather|granddad grandfather|grandad grandfather|gramps grandfather|grandpas grandfathers
hubby husband|bday birthday|appt appointment|veterinarian vet|veterinary vet|pwd password|passwd password|dept department
apt apartment|acct account|qty quantity|mgr manager|lang language|uni university|pref preference|prefs preferences
expiration expiry|expiring expiry|physician doctor|physicians doctors|automobile car|paediatrician pediatrician
gynaecologist gynecologist|orthopaedist orthopedist|aeroplane airplane|refrigerator fridge|television tv|hairstylist hairdresser
kindergarden kindergarten|anniv anniversary|manufacturer maker|mfr maker
`
    .trim()
    .split(/[|\n]/)
    .map((p) => p.trim().split(' ')),
);

// R2: two or three adjacent tokens for one or two.
const COMPOUNDS = [
  ['e_mail', 'email'],
  ['wi_fi', 'wifi'],
  ['wlan', 'wifi'],
  ['web_site', 'website'],
  ['home_page', 'homepage'],
  ['time_zone', 'timezone'],
  ['post_code', 'postcode'],
  ['postal_code', 'postcode'],
  ['zip_code', 'postcode'],
  ['zipcode', 'postcode'],
  ['birth_day', 'birthday'],
  ['birthdate', 'birth_date'],
  ['birthplace', 'birth_place'],
  ['birthyear', 'birth_year'],
  ['pass_word', 'password'],
  ['pass_code', 'passcode'],
  ['pass_phrase', 'passphrase'],
  ['log_in', 'login'],
  ['nick_name', 'nickname'],
  ['sur_name', 'surname'],
  ['fore_name', 'forename'],
  ['firstname', 'first_name'],
  ['lastname', 'last_name'],
  ['middlename', 'middle_name'],
  ['fullname', 'full_name'],
  ['home_town', 'hometown'],
  ['work_place', 'workplace'],
  ['job_title', 'job_title'],
  ['jobtitle', 'job_title'],
  ['phonenumber', 'phone_number'],
  ['cell_phone', 'mobile'],
  ['mobile_phone', 'mobile'],
  ['mobilephone', 'mobile'],
  ['cell_number', 'mobile_number'],
  ['land_line', 'landline'],
  ['land_lord', 'landlord'],
  ['step_mother', 'stepmother'],
  ['step_father', 'stepfather'],
  ['step_brother', 'stepbrother'],
  ['step_sister', 'stepsister'],
  ['step_son', 'stepson'],
  ['step_daughter', 'stepdaughter'],
  ['god_mother', 'godmother'],
  ['god_father', 'godfather'],
  ['grand_mother', 'grandmother'],
  ['grand_father', 'grandfather'],
  ['girl_friend', 'girlfriend'],
  ['boy_friend', 'boyfriend'],
  ['room_mate', 'roommate'],
  ['flat_mate', 'flatmate'],
  ['house_mate', 'housemate'],
  ['class_mate', 'classmate'],
  ['room_mates', 'roommates'],
  ['mother_in_laws', 'mother_in_law'],
  ['check_in', 'checkin'],
  ['check_out', 'checkout'],
  ['number_plate', 'number_plate'],
  ['numberplate', 'number_plate'],
  ['licenseplate', 'license_plate'],
  ['head_quarters', 'headquarters'],
  ['hq', 'headquarters'],
  ['blood_group', 'blood_type'],
  ['bloodtype', 'blood_type'],
  ['due_day', 'due_date'],
  ['duedate', 'due_date'],
  ['dead_line', 'deadline'],
  ['start_up', 'startup'],
  ['micro_chip', 'microchip'],
  ['baby_sitter', 'babysitter'],
  ['child_minder', 'childminder'],
  ['pick_up', 'pickup'],
  ['drop_off', 'dropoff'],
  ['dog_sitter', 'dogsitter'],
  ['pet_sitter', 'petsitter'],
  ['house_keeper', 'housekeeper'],
  ['health_care', 'healthcare'],
  ['day_care', 'daycare'],
  ['life_style', 'lifestyle'],
  ['net_worth', 'net_worth'],
]
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => [a.split('_'), b.split('_')])
  .toSorted((x, y) => y[0].length - x[0].length);

// R3: verb forms, first token only and only before a preposition -> third person singular. No past forms.
const VERBS = {};
for (const v of `lives:live,living resides:reside,residing works:work,working stays:stay,staying studies:study,studying speaks:speak,speaking
 belongs:belong,belonging drives:drive,driving banks:bank,banking shops:shop,shopping comes:come,coming goes:go,going
 reports:report,reporting expires:expire,expiring ends:end,ending starts:start,starting begins:begin,beginning
 departs:depart,departing arrives:arrive,arriving flies:fly,flying travels:travel,traveling,travelling trains:train
 moves:moving suffers:suffer,suffering plays:play,playing renews:renew,renewing runs:run closes:close opens:open`
  .trim()
  .split(/\s+/)) {
  const [to, from] = v.split(':');
  for (const f of from.split(',')) VERBS[f] = to;
}
const PREPOSITIONS = words('in at for with as on to by from near of until');
const LONE_VERBS = {
  like: 'likes',
  dislike: 'dislikes',
  speak: 'speaks',
  enjoy: 'enjoys',
  hate: 'hates',
  love: 'loves',
};

// R4: heads of "<head>_of_<rest>" that are turned round to "<rest>_<head>".
const OF_HEADS = words('name names date place time year color type model size price cost brand city country');

// R5: prefixes.
const ALWAYS = ['the', 'my', 'users', 'currently'];
const KEEP_CURRENT = words(
  'city town account accounts affairs location whereabouts interest draw rating limit events meter',
);
const KEEP_USER = words(
  'id ids name names account accounts role roles group groups agent manual guide interface type types limit limits count base experience license licenses story stories profile token key handle agreement rights permissions number login',
);
const HAS_LAST = words(
  'name surname nickname number address date time color size type status id birthday age email employer title role nationality citizenship height weight price capacity deadline occupation profession postcode timezone expiry gender pronouns anniversary salary hometown iban brand maker model width length depth',
);
const IS_FIRST = words('called named aged');

// R6: nouns after which "_name" says nothing: people in a role and organisations, where the value is a name anyway.
const ROLES =
  words(`wife husband spouse fiance fiancee partner girlfriend boyfriend mother father brother sister son daughter stepmother stepfather
 stepbrother stepsister stepson stepdaughter grandmother grandfather aunt uncle cousin niece nephew godmother godfather
 employer boss manager supervisor assistant mentor colleague coach trainer teacher tutor doctor gp dentist pediatrician gynecologist
 therapist psychologist dermatologist optician pharmacist vet lawyer attorney solicitor accountant landlord landlady tenant neighbor roommate flatmate
 housemate babysitter nanny cleaner housekeeper gardener plumber electrician hairdresser barber mechanic
 employee owner founder ceo cfo cto insurer university school kindergarten nursery daycare college pharmacy hotel airline contact friend
 beneficiary guardian stakeholder sponsor airport`);
const ROLE_TAILS = [
  'mother_in_law',
  'father_in_law',
  'brother_in_law',
  'sister_in_law',
  'son_in_law',
  'daughter_in_law',
  'best_man',
];
// R6: nouns after which "_info", "_information", "_details" say nothing.
const INFO = words(
  'address email birthday occupation profession diet allergy allergies hobby hobbies nationality citizenship deadline expiry',
);
const EXTRA_DATE = words('expiry deadline birthday anniversary');

// R7: last tokens whose plural and singular mean the same single value.
const PLURALS = {
  restrictions: 'restriction',
  requirements: 'requirement',
  limitations: 'limitation',
  dimension: 'dimensions',
  measurement: 'measurements',
  pronoun: 'pronouns',
  hour: 'hours',
  headquarter: 'headquarters',
  initial: 'initials',
};

const NO_NUMBER = words(
  'phone mobile fax landline account policy customer contract passport flight order serial member membership house room gate seat booking invoice reference tracking part model license registration tax insurance ticket case id vat vin client loyalty card meter routing apartment chip microchip train confirmation employee student telephone tel',
);

export function split(raw) {
  let s = String(raw).normalize('NFKD').replace(/\p{M}/gu, '');
  s = s
    .replace(/[’ʼ`´]/g, "'")
    .replace(/([\p{L}])'s\b/giu, '$1')
    .replace(/s'(?=[\s_.-]|$)/giu, 's')
    .replace(/'/g, '');
  s = s.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2');
  return s
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .split('_')
    .filter(Boolean);
}

function compounds(t) {
  const out = [];
  for (let i = 0; i < t.length;) {
    const hit = COMPOUNDS.find(([a]) => a.every((w, k) => t[i + k] === w));
    if (hit) {
      out.push(...hit[1]);
      i += hit[0].length;
    } else out.push(t[i++]);
  }
  return out;
}

function spelling(t) {
  t = t.map((w) => (Object.hasOwn(TOKENS, w) ? TOKENS[w] : w));
  const n = t.length;
  if (n > 1 && t[n - 1] === 'no' && NO_NUMBER.has(t[n - 2])) t = [...t.slice(0, -1), 'number'];
  if (n > 1 && t[n - 1] === 'zip') t = [...t.slice(0, -1), 'postcode'];
  if (
    t[t.length - 1] === 'cell' &&
    (t.length === 1 || ['work', 'home', 'private', 'personal', 'business'].includes(t[t.length - 2]))
  )
    t = [...t.slice(0, -1), 'mobile'];
  t = compounds(t);
  // a possessive s without its apostrophe: wifes_birthday, mothers_name
  return t.map((w, i) =>
    i < t.length - 1 && w.endsWith('s') && ROLES.has(w.slice(0, -1)) && w !== 'boss' ? w.slice(0, -1) : w,
  );
}

function verbs(t) {
  if (t.length > 1 && PREPOSITIONS.has(t[1]) && Object.hasOwn(VERBS, t[0])) return [VERBS[t[0]], ...t.slice(1)];
  if (t.length === 1 && Object.hasOwn(LONE_VERBS, t[0])) return [LONE_VERBS[t[0]]];
  if (t.length > 2 && ['where', 'what', 'who', 'when', 'how'].includes(t[0])) {
    const rest = t
      .slice(1)
      .filter((w, i) => !(i < 3 && ['the', 'user', 'i', 'they', 'he', 'she', 'we', 'you', 'does', 'do'].includes(w)));
    if (rest.length) return [t[0], ...rest];
  }
  return t;
}

function turn(t) {
  if (t.length > 2 && OF_HEADS.has(t[0]) && t[1] === 'of') {
    const rest = t.slice(2);
    if (['the', 'my', 'a'].includes(rest[0]) && rest.length > 1) rest.shift();
    if (rest.length === 1 && ['user', 'users'].includes(rest[0])) return [t[0]];
    return [...rest, t[0]];
  }
  if (t.length > 2 && t.at(-2) === 'of' && t.at(-1) === 'user') return t.slice(0, -2);
  if (t.length > 3 && t.at(-3) === 'of' && t.at(-2) === 'the' && t.at(-1) === 'user') return t.slice(0, -3);
  return t;
}

function prefix(t) {
  if (t.length < 2) return t;
  const [p, next] = t;
  const last = t.at(-1);
  if (ALWAYS.includes(p)) return t.slice(1);
  if (p === 'current' && !KEEP_CURRENT.has(next)) return t.slice(1);
  if (p === 'user' && !KEEP_USER.has(next)) return t.slice(1);
  if (p === 'has' && HAS_LAST.has(last)) return t.slice(1);
  if (p === 'is' && (PREPOSITIONS.has(last) || IS_FIRST.has(next))) return t.slice(1);
  if (p === 'was' && next === 'born') return t.slice(1);
  return t;
}

function suffix(t) {
  const last = t.at(-1);
  const before = t.at(-2);
  if (t.length < 2) return Object.hasOwn(PLURALS, last) ? [PLURALS[last]] : t;
  if (last === 'name' && (ROLES.has(before) || ROLE_TAILS.some((r) => t.slice(0, -1).join('_').endsWith(r))))
    return t.slice(0, -1);
  if (['info', 'information', 'details'].includes(last) && INFO.has(before)) return t.slice(0, -1);
  if (last === 'number' && ['phone', 'mobile', 'fax', 'landline'].includes(before)) return t.slice(0, -1);
  if (last === 'phone' && before === 'mobile') return t.slice(0, -1);
  if (last === 'address' && before === 'email') return t.slice(0, -1);
  if (last === 'date' && EXTRA_DATE.has(before)) return t.slice(0, -1);
  if (Object.hasOwn(PLURALS, last)) return [...t.slice(0, -1), PLURALS[last]];
  return t;
}

export function normalise(raw) {
  let t = split(raw);
  for (let i = 0; i < 8; i++) {
    const before = t.join('_');
    for (const step of [spelling, prefix, verbs, turn, suffix]) t = step(t);
    if (t.join('_') === before) break;
  }
  return t.join('_');
}
