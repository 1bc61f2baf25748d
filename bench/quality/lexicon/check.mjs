// node check.mjs [file]: valid JSON, one group per line, shape, no name twice, every name in normalised form, glosses of at most 14 words,
// at most ten predicates that hold several values and none of them an example of the specs.
import { readFileSync } from 'node:fs';
import { normalise } from './normalise.mjs';
const file = process.argv[2] ?? new URL('./predicates.json', import.meta.url);
const text = readFileSync(file, 'utf8');
const groups = JSON.parse(text);
const errors = [];
const seen = new Map();
const EXAMPLES = new Set([
  'name',
  'dietary_restriction',
  'current_interest',
  'recent_meal',
  'medication_schedule',
  'birthday',
]);
let aliases = 0;
for (const g of groups) {
  const keys = Object.keys(g).join(',');
  if (!['name,aliases,gloss', 'name,aliases,gloss,holds'].includes(keys)) errors.push(`${g.name}: keys ${keys}`);
  if ('holds' in g && g.holds !== 'several') errors.push(`${g.name}: holds ${g.holds}`);
  const n = g.gloss.replace(/,/g, ' ').trim().split(/\s+/).length;
  if (n > 14 || n < 1) errors.push(`${g.name}: gloss of ${n} words`);
  aliases += g.aliases.length;
  for (const name of [g.name, ...g.aliases]) {
    if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) errors.push(`${name}: characters`);
    const norm = normalise(name);
    if (norm !== name) errors.push(`${g.name}: ${name} normalises to ${norm}`);
    if (normalise(norm) !== norm) errors.push(`${name}: not idempotent`);
    if (seen.has(name)) errors.push(`${name}: in ${seen.get(name)} and ${g.name}`);
    seen.set(name, g.name);
    if (g.holds && EXAMPLES.has(name)) errors.push(`${name}: an example of the specs that holds several`);
  }
}
const several = groups.filter((g) => g.holds);
if (several.length > 10) errors.push(`${several.length} hold several`);
const lines = text.split('\n').filter((l) => /^\s*\{ "name"/.test(l)).length;
if (lines !== groups.length) errors.push(`${lines} lines for ${groups.length} groups`);
// rules: what must and must not fall together
const same = [
  ['homeCity', 'home-city'],
  ["user's phone number", 'phone'],
  ['Favourite Colour', 'favorite_color'],
  ['mum', 'mother'],
  ['date_of_birth', 'birth_date'],
  ['employer_name', 'employer'],
  ['name_of_employer', 'employer'],
  ['work_telephone_no', 'work_phone'],
  ['is_allergic_to', 'allergic_to'],
  ['living_in', 'lives_in'],
  ['cell_phone', 'mobile'],
  ["wife's birthday", 'wife_birthday'],
  ['wifes_birthday', 'wife_birthday'],
  ['currently_lives_in', 'lives_in'],
  ['current_employer', 'employer'],
  ['e-mail address', 'email'],
  ['passport_expiration_date', 'passport_expiry'],
  ['where_does_the_user_live', 'where_live'],
  ['zip_code', 'postcode'],
  ['mother_in_law_name', 'mother_in_law'],
  ['userEmail', 'email'],
];
const differ = [
  ['former_employer', 'employer'],
  ['new_phone', 'phone'],
  ['old_address', 'address'],
  ['work_phone', 'phone'],
  ['home_phone', 'phone'],
  ['second_phone', 'phone'],
  ['next_appointment', 'appointment'],
  ['current_account', 'account'],
  ['current_location', 'location'],
  ['has_car', 'car'],
  ['is_married', 'married'],
  ['dog_name', 'dog'],
  ['pet_name', 'pet'],
  ['maiden_name', 'name'],
  ['user_id', 'id'],
  ['user_name', 'name'],
  ['mother_in_law', 'mother'],
  ['mothers_maiden_name', 'mother'],
  ['her_birthday', 'birthday'],
  ['lived_in', 'lives_in'],
  ['hobbies', 'hobby'],
  ['contact_info', 'contact'],
  ['ex_wife', 'wife'],
  ['emergency_contact', 'contact'],
  ['backup_email', 'email'],
  ['was_employed_by', 'employed_by'],
  ['boss', 'bos'],
  ['number_of_children', 'children'],
  ['business_name', 'business'],
  ['phone_model', 'phone'],
  ['due_date', 'due'],
  ['start_date', 'start'],
];
for (const [a, b] of same)
  if (normalise(a) !== normalise(b)) errors.push(`rule: ${a} -> ${normalise(a)}, ${b} -> ${normalise(b)}`);
for (const [a, b] of differ) if (normalise(a) === normalise(b)) errors.push(`rule joins ${a} and ${b}`);
console.log(
  `${groups.length} groups, ${aliases} aliases, ${several.length} hold several: ${several.map((g) => g.name).join(', ')}`,
);
if (errors.length) {
  console.error(errors.join('\n'));
  process.exit(1);
}
console.log('ok');
