/** Spellings and word lists of `normalisePredicate`. The lists are closed: a name that no rule knows stays as it is. */

function readPairs(table: string): ReadonlyMap<string, string> {
  return new Map(table.split(',').map((pair) => pair.trim().split(' ') as [string, string]));
}

function readWords(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** One word for another, at any place of a name. */
export const tokenTable = readPairs(`
favourite favorite, fav favorite, fave favorite, favourites favorites, colour color, colours colors, licence license,
licences licenses, organisation organization, organisations organizations, org organization, programme program,
centre center, neighbour neighbor, neighbours neighbors, tyre tire, tyres tires, metre meter, jewellery jewelry,
enrolment enrollment, cancelled canceled, cancelation cancellation, labour labor, behaviour behavior,
speciality specialty, adviser advisor, counsellor counselor, traveller traveler, practise practice, analyse analyze,
catalogue catalog, grey gray, theatre theater, aluminium aluminum, moustache mustache, telephone phone, tel phone,
cellphone mobile, cellphones mobiles, handphone mobile, addr address, adress address, nr number, num number,
nbr number, mum mother, mom mother, mummy mother, mommy mother, mums mothers, moms mothers, dad father, daddy father,
dads fathers, grandma grandmother, granny grandmother, gran grandmother, nana grandmother, grandmas grandmothers,
grandpa grandfather, granddad grandfather, grandad grandfather, gramps grandfather, grandpas grandfathers,
hubby husband, bday birthday, appt appointment, veterinarian vet, veterinary vet, pwd password, passwd password,
dept department, apt apartment, acct account, qty quantity, mgr manager, lang language, uni university,
pref preference, prefs preferences, expiration expiry, expiring expiry, physician doctor, physicians doctors,
automobile car, paediatrician pediatrician, gynaecologist gynecologist, orthopaedist orthopedist, aeroplane airplane,
refrigerator fridge, television tv, hairstylist hairdresser, kindergarden kindergarten, anniv anniversary,
manufacturer maker, mfr maker
`);

/** One word, or two side by side, for one or two others. */
export const compoundTable = readPairs(`
e_mail email, wi_fi wifi, wlan wifi, web_site website, home_page homepage, time_zone timezone, post_code postcode,
postal_code postcode, zip_code postcode, zipcode postcode, birth_day birthday, birthdate birth_date,
birthplace birth_place, birthyear birth_year, pass_word password, pass_code passcode, pass_phrase passphrase,
log_in login, nick_name nickname, sur_name surname, fore_name forename, firstname first_name, lastname last_name,
middlename middle_name, fullname full_name, home_town hometown, work_place workplace, jobtitle job_title,
phonenumber phone_number, cell_phone mobile, mobile_phone mobile, mobilephone mobile, cell_number mobile_number,
land_line landline, land_lord landlord, step_mother stepmother, step_father stepfather, step_brother stepbrother,
step_sister stepsister, step_son stepson, step_daughter stepdaughter, god_mother godmother, god_father godfather,
grand_mother grandmother, grand_father grandfather, girl_friend girlfriend, boy_friend boyfriend, room_mate roommate,
flat_mate flatmate, house_mate housemate, class_mate classmate, room_mates roommates, check_in checkin,
check_out checkout, numberplate number_plate, licenseplate license_plate, head_quarters headquarters,
hq headquarters, blood_group blood_type, bloodtype blood_type, due_day due_date, duedate due_date,
dead_line deadline, start_up startup, micro_chip microchip, baby_sitter babysitter, child_minder childminder,
pick_up pickup, drop_off dropoff, dog_sitter dogsitter, pet_sitter petsitter, house_keeper housekeeper,
health_care healthcare, day_care daycare, life_style lifestyle
`);

/** Verbs before a preposition, in the third person. */
export const verbTable = readPairs(`
live lives, living lives, reside resides, residing resides, work works, working works, stay stays, staying stays,
study studies, studying studies, speak speaks, speaking speaks, belong belongs, belonging belongs, drive drives,
driving drives, bank banks, banking banks, shop shops, shopping shops, come comes, coming comes, go goes, going goes,
report reports, reporting reports, expire expires, expiring expires, end ends, ending ends, start starts,
starting starts, begin begins, beginning begins, depart departs, departing departs, arrive arrives, arriving arrives,
fly flies, flying flies, travel travels, traveling travels, travelling travels, train trains, moving moves,
suffer suffers, suffering suffers, play plays, playing plays, renew renews, renewing renews, run runs, close closes,
open opens
`);

/** Verbs that are a whole name. */
export const loneVerbTable = readPairs(
  'like likes, dislike dislikes, speak speaks, enjoy enjoys, hate hates, love loves',
);

/** Words at the end whose singular and plural hold the same single value. */
export const pluralTable = readPairs(`
restrictions restriction, requirements requirement, limitations limitation, dimension dimensions,
measurement measurements, pronoun pronouns, hour hours, headquarter headquarters, initial initials
`);

/** `name_of_…` and the like are turned round. */
export const headsBeforeOf = readWords(`
name names date place time year color type model size price cost brand city country
`);

/** After "current": a current account is a bank account, and a current city is where someone is now. */
export const currentThings = readWords(`
city town account accounts affairs location whereabouts interest draw rating limit events meter
`);

/** After "user": the user id of something is not its id. */
export const userThings = readWords(`
id ids name names account accounts role roles group groups agent manual guide interface type types limit limits
count base experience license licenses story stories profile token key handle agreement rights permissions number
login
`);

/** Attributes that everything of a kind has, so that "has" before them says nothing. */
export const ownedAttributes = readWords(`
name surname nickname number address date time color size type status id birthday age email employer title role
nationality citizenship height weight price capacity deadline occupation profession postcode timezone expiry gender
pronouns anniversary salary hometown iban brand maker model width length depth
`);

/** People in a role and organisations: their value is a name anyway, so that "name" after them says nothing. */
export const roles = readWords(`
wife husband spouse fiance fiancee partner girlfriend boyfriend mother father brother sister son daughter stepmother
stepfather stepbrother stepsister stepson stepdaughter grandmother grandfather aunt uncle cousin niece nephew
godmother godfather employer boss manager supervisor assistant mentor colleague coach trainer teacher tutor doctor
gp dentist pediatrician gynecologist therapist psychologist dermatologist optician pharmacist vet lawyer attorney
solicitor accountant landlord landlady tenant neighbor roommate flatmate housemate babysitter nanny cleaner
housekeeper gardener plumber electrician hairdresser barber mechanic employee owner founder ceo cfo cto insurer
university school kindergarten nursery daycare college pharmacy hotel airline contact friend beneficiary guardian
stakeholder sponsor airport
`);

/** After these, "info" and "details" say nothing. */
export const informationNouns = readWords(`
address email birthday occupation profession diet allergy allergies hobby hobbies nationality citizenship deadline
expiry
`);

/** After these, "no" is a number. */
export const numberedThings = readWords(`
phone mobile fax landline account policy customer contract passport flight order serial member membership house room
gate seat booking invoice reference tracking part model license registration tax insurance ticket case id vat vin
client loyalty card meter routing apartment chip microchip train confirmation employee student telephone tel
`);
