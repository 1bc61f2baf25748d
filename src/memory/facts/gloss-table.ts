/**
 * What people call the things that predicates name, one line for predicates of one meaning: names, a colon, the gloss. A
 * name is a predicate, or a word or phrase within one: `winter_tires` is explained by the line of `tires`.
 */
export const glossTable = `
name full_name: what someone is called, first name, last name
first_name given_name forename: first name, what someone is called
last_name surname family_name: last name, family name
maiden_name: last name before marriage
nickname preferred_name prefers_to_be_called goes_by called: how to address someone, first name, short name
pronouns: he, she or they
birthday date_of_birth birth_date born born_on dob: birth date, when someone was born, age, how old
birth_place place_of_birth born_in birthplace: where someone was born, town of birth, origin
hometown origin comes_from grew_up_in: where someone comes from, grew up
age: how old
gender: man, woman
nationality citizenship: citizen of a country, passport
religion faith: belief, church, prayer
language languages speaks spoken native_language: language someone can speak, talk, understand
height: how tall, body size
weight: how heavy, body weight
shoe shoes shoe_size: footwear, boots, foot
clothing clothes shirt dress trousers jacket: clothes, wear, fits
size: size that fits
ring jewelry: jewellery, finger
hair hairdresser barber haircut: hair, salon
eyes glasses eyesight contact_lenses optician: spectacles, lenses, vision
address home_address: where someone lives, street, delivery, post, parcel
home lives_in lives_on lives_at residence lives city home_city location moved_to: where someone lives, town, apartment or house
country: land, abroad
postcode zip: postal code
phone phone_number mobile mobile_number telephone cell landline direct_line extension: telephone number, call, ring someone
email e_mail email_address: e-mail, write to, message
contact best_way_to_reach how_to_reach reach preferred_contact_method: how to contact someone, get hold of, call or write
website blog homepage: page on the internet
social_media instagram twitter linkedin: online profile, account
emergency_contact: whom to call in an emergency
timezone time_zone: local time
wife husband spouse married_to: spouse, married, partner
partner girlfriend boyfriend fiance fiancee: relationship, couple, together with
wedding married anniversary wedding_anniversary: marriage, wedding anniversary, wed
marital_status relationship_status: married, single or divorced
divorce separation separated breakup ex_wife ex_husband ex_partner: separated, split up, former partner
mother mum mom: mum, mom, parent
father dad: dad, parent
parents: mother and father
son: child, boy, kid
daughter: child, girl, kid
child children kids: son or daughter, family
baby pregnancy pregnant due_date: expecting a child, birth
sister brother sibling siblings: sister or brother, sibling
grandmother grandma: granny, grandparent
grandfather grandpa: granddad, grandparent
grandchild grandson granddaughter: child of a child
mother_in_law father_in_law in_law in_laws: parent of the spouse
aunt uncle cousin niece nephew relative: relative, family
godfather godmother godson goddaughter godchild: godparent, baptism
friend friends best_friend: closest friend, mate, pal
neighbor neighbors: next door, street
roommate flatmate housemate: shares the apartment
died death deceased: dead, passed away
grave cemetery funeral: buried, burial
will testament inheritance executor: last wishes, heirs, in case of death
dispute conflict complaint quarrel: argument, angry, annoyed
owes debt lent borrowed loan: owe money, borrow, pay back
job occupation profession job_title position role function works_as: work, career, what someone does for a living
employer works_for works_at company workplace firm: company someone works for, employed, job
business self_employed freelance startup: own company, trade
boss manager line_manager supervisor reports_to: superior, head, reports to
colleague coworker team teammate: works together, people at work
deputy substitute stand_in assistant secretary: stands in, replaces, covers for, helps
mentor mentee mentoring apprentice intern: teaches, coaches, trainee
client customer clients customers: customer, buyer, account
supplier vendor: delivers, sells
project main_project: work project, task
deadline milestone: due, latest date
meeting standup: appointment, conference, call
working_hours working_pattern work_schedule shift office_hours: working days, working time, days off
office office_days desk: at work, in person, workplace
commute: way to work
remote home_office: works from home
salary income wage pay bonus: earns, earnings, how much money
raise promotion: better paid job
pension retirement: retirement savings, retire
career career_goal ambition: professional goals, wants to become
offer declined_offer application interview: job offer, apply, rejected
contract: agreement, terms, notice period
leave annual_leave vacation_days holiday_allowance: days off, holidays left
appraisal review performance_review: evaluation, yearly talk
talk conference lecture presentation speech: lecture, speaks in public, event
professional_body membership member member_of association union: member of, fee, institution
work: business, professional, job
personal private: private, not business
degree studies studied education qualification: university, graduate, study
university college: student, study, campus
studying course class training learning: course, lessons, studies, education
school: pupil, class, education, lessons
teacher tutor: school, lessons, teaches
kindergarten nursery daycare childcare nanny babysitter childminder after_school_care: looks after children, picks up from school
parents_evening: school meeting with the teacher
exam test grade: school results, mark
homework: school work
learning_support special_needs dyslexia: extra lessons, learning difficulty
pocket_money allowance: money for children, weekly
screen_time: time on phone or television
mortgage: home loan, interest rate, bank
mortgage_payment payment instalment installment: monthly cost, pays, amount
rent: monthly housing cost, landlord, apartment
landlord tenant rental rental_property letting: rent, let an apartment, income from rent
bank account bank_account joint_account: bank, money, account
iban account_number: bank details, transfer
credit_card card debit_card: payment card
savings emergency_fund reserve: money put aside, reserve, cushion
budget spending expenses: how much money may be spent
investment investments shares stocks portfolio: invested money, fund
tax taxes tax_return self_assessment tax_advisor: tax return, tax office
accountant bookkeeper: bookkeeping, accounts, taxes
lawyer solicitor attorney notary: legal advice, law
insurance insurer policy: insurance policy, cover, premium
health_insurance health_insurer: medical bills, cover, deductible
home_insurance household_insurance contents_insurance: policy for house and contents
car_insurance: motor policy, vehicle cover
life_insurance: money for the family in case of death
liability_insurance: damage caused to others
subscription subscriptions streaming: monthly service, series and films
price cost fee charges quote estimate: price, how much, offer
bill invoice: pay, amount
donation charity: gives money, cause
house property apartment flat: building, home, rooms
description: what it is like, kind, how old
room bedroom bathroom: room at home
kitchen: cook, room
garden yard balcony terrace: plants, outside
allotment: vegetable plot, gardening
plants plant flowers flower: plants, bouquet, gardening
garage parking parking_space: car, where to park
cellar basement: below the house, storage
loft attic roof: top of the house
heating boiler radiator thermostat: heating, warm, hot water
fault problem issue defect error error_code broken: broken, not working, what to do
plumber water_leak: pipe, leak, water, repairs
electrician fuse fuse_box: power, lights, wiring
water_shutoff stopcock water_meter: water valve, turn off
wifi wlan wifi_network router: wireless network, internet, connection
password pin code passcode password_hint: secret, login, unlock
alarm burglar_alarm alarm_code: security system, intruder, burglary
key keys spare_key lockbox: door, get in, locked
safe: valuables, documents, locked away
bin bins bin_day garbage trash waste recycling: rubbish, waste collection
internet internet_provider broadband: internet contract, provider, connection
energy_supplier electricity gas power utility: electricity, gas, bill, supplier
solar solar_panels: photovoltaics, roof, power
renovation conversion loft_conversion refurbishment: building work, construction
builder contractor handyman roofer carpenter painter: tradesperson, building work, repairs
smoke_alarm smoke_detector: fire, battery
cleaner cleaning housekeeper: cleaning, tidy, household help
gardener: garden work, lawn
appliance washing_machine dishwasher dryer oven fridge freezer: household machine, kitchen
furniture sofa bed mattress: furnishing
pump: water, flood
printer: print, ink, toner
computer laptop desktop: machine, PC
tablet device smartphone: gadget
tv television: watch
software app operating_system: program
backup: copy of files, data
cloud storage: files, data
moving move moving_date: new home, relocation
shopping groceries supermarket: buy, shop, food
storage stored keeps kept where_kept: where it is, place
documents certificates birth_certificates papers: papers, folder
id_card identity_card: identification, document
passport: travel document, abroad, expires, renew
visa: entry permit, travel
drivers_license driving_license license: permission to drive
dog: pet, animal, breed, puppy
cat: pet, animal, breed, kitten
pet pets animal animals guinea_pigs rabbit hamster fish bird horse: pet, animal at home
vet: animal doctor, pet is ill
microchip: chip number of a pet
kennel boarding pet_sitter: looks after the pet while away
breed: kind of dog or cat
behavior temperament habit habits: reacts, character, usually
doctor gp family_doctor physician pediatrician: doctor, practice, medical appointment
specialist cardiologist dermatologist gynecologist therapist psychologist physiotherapist: doctor, treatment, therapy
hospital clinic: hospital, treatment
pharmacy: medicine, chemist
dentist orthodontist braces dental: teeth, toothache, dental appointment
appointment check_up checkup: appointment, date, visit
health condition health_condition chronic_condition illness disease diagnosis: medical condition, ill, sick, symptoms
asthma: trouble breathing, inhaler
diabetes: blood sugar, insulin
allergy allergies allergic_to intolerance: allergic, must not eat or be given, dangerous, reaction
medication medicine medications prescription supplement: pills, tablets, drugs, dose
injury surgery operation: hurt, accident, operated
blood_type blood_group: blood donation, transfusion
blood_pressure: hypertension, measured values
cholesterol: blood fat, lipids, laboratory
vaccination vaccine vaccinations jab flu_jab flu_shot: vaccinated against, shot, immunisation
migraine headache: head pain
sleep sleep_trouble insomnia: cannot sleep, night, tired
stress mental_health: worry, mood
smoking smoker: cigarettes
alcohol: drinks wine, beer
diet eats dietary_restriction nutrition does_not_eat: what someone eats, food, meals, cooking, vegetarian
food favorite_food dish meal favorite_dish: food, eat, cook, meal
breakfast lunch dinner: meal, eat
recipe cooking cooks: cook, kitchen, meals
cooking_rota rota chores: whose turn, household duty
drink drinks hot_drink beverage tea coffee: drink, cup, tea or coffee
restaurant restaurants cafe bar pub: eat out, dinner, reserve a table
cuisine: kind of food, restaurant
snack sweets dessert: sweet, cake
likes loves enjoys interests interest current_interest: fond of, enjoys, interested in
dislikes hates: does not like, cannot stand, avoids
favorite: likes most, loves
prefers preference preferences taste: would rather have, likes
afraid_of fear fears phobia: scared, frightened
hobby hobbies pastime free_time leisure: spare time, leisure, does for fun
sport sports exercise workout fitness gym: sport, training, active
running runs marathon: run, race, jogging
cycling bike bicycle: ride, cycle
swimming: swim, pool
football soccer basketball tennis hockey: match, play, team
yoga pilates: exercise class
hiking climbing skiing: mountains, outdoors
supports fan_of favorite_team: fan, sports club
team club after_school_club: group, activity, meets
goal goals running_goal resolution target: aim, wants to reach, training for
music instrument plays favorite_band: musical instrument, music
band plays_in choir sings_in orchestra: musicians, music group, sings
rehearsal practice: musicians practise
concert gig next_gig performance show: on stage, event, perform, tickets
book books reading reading_taste author: novels, reads, literature
film films movie movies series: watch, cinema
game games game_night board_game video_game: play together
art painting drawing photography: creative, pictures
crafts knitting sewing woodworking: handmade, makes things
collects collection: collector
dancing theater museum: culture, evening out
volunteering volunteer: helps without pay
toy comfort_toy: stuffed animal, play, bedtime
gift present gift_wish gift_idea wishes_for wish wish_list wishes: present, gift, Christmas or birthday
party celebration christmas: celebrate, guests
trip travel vacation holiday journey travel_plan: travel, holiday, going away
plan plans upcoming next: planned, going to, soon
flight flights airline: fly, plane, airport
seat seat_preference: where to sit
hotel lodging accommodation apartment_rental: place to stay, room
booking reservation booking_reference: reserved, confirmation
luggage packing: suitcase, pack
train railcard rail_pass tickets: train tickets, discount
bus tram transport: public transport
ferry cruise: ship, boat
travel_sickness motion_sickness: ill on a journey, car ride
visit next_visit guest guests: arrives, stays, comes to see
destination favorite_place: place to go
car vehicle drives: vehicle, drive, motor
registration number_plate license_plate: plate, registration number
mot mot_due inspection tuv: vehicle inspection, technical check
mechanic repair_shop: repairs the car, workshop
tires winter_tires: wheels of the car
fuel charging: petrol, diesel, electric car
mileage: distance driven
motorcycle scooter: motorbike
boat camper caravan: vehicle, trips
opening_hours open hours: when it is open
schedule timetable routine: when, regular times
due due_on expires expiry renewal: deadline, runs out, renew
start starts begins: from when
end ends: until when
number: digits
status state: current situation
note remark: worth knowing
reminder todo task: not to forget, to do
background history: past, biography
`;
