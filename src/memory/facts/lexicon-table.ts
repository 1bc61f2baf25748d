/**
 * Predicates that people and agents use every day, a group a line: the canonical name, names that mean the same, a colon
 * and the gloss, which is what people call the thing. Names are in the form that `normalisePredicate` returns. All names of
 * a group share a key, so a name belongs to one only where every value of it would replace a value of the others.
 */
export const lexiconTable = `
name called named name_is persons_name: what someone is called, first name, last name
full_name complete_name name_in_full whole_name first_and_last_name full_name_is: what someone is called, first name, last name
first_name given_name forename christian_name fname personal_name: first name, what someone is called
last_name surname family_name lname: last name, family name
middle_name middle_names second_given_name second_first_name: middle name
maiden_name surname_at_birth last_name_at_birth family_name_at_birth birth_surname nee name_before_marriage surname_before_marriage: last name before marriage
nickname nick nicknamed moniker: how to address someone, first name, short name
preferred_name prefers_to_be_called likes_to_be_called wants_to_be_called wishes_to_be_called call_me name_to_use should_be_called goes_by name_preference: how to address someone, first name, short name
birthday birth_date dob born_on born_date date_born when_born day_of_birth b_day d_o_b birthday_is: birth date, when someone was born, age, how old
birth_year year_born yob born_in_year: year of birth, which year someone was born
birth_place where_born born_in_city born_in_town birth_town birth_city pob birth_location location_of_birth: where someone was born, town of birth, origin
birth_country born_in_country: country where someone was born
age years_old how_old age_in_years aged age_years: how old
gender gender_identity identifies_as_gender: man, woman
pronouns preferred_pronouns gender_pronouns personal_pronouns uses_pronouns pronouns_used goes_by_pronouns: he, she or they
nationality citizenship citizen_of national_of: citizen of a country, passport
ethnicity ethnic_background ethnic_origin ethnic_group ethnic_heritage: ethnic background, heritage
hometown grew_up_in raised_in where_grew_up native_town native_city city_grew_up_in town_grew_up_in place_grew_up was_raised_in: where someone comes from, grew up
origin comes_from originally_from hails_from origin_place where_comes_from where_originally_from: where someone comes from, grew up
lives_in home_city city town residence residence_city residence_place resides_in where_lives where_live where_living where_resides town_of_residence home_location residential_city city_lives_in lives_in_city living_place domicile residence_location location_of_residence: where someone lives, town, apartment or house
residence_country lives_in_country resides_in_country country_lives_in resident_country living_country: country where someone lives
address home_address street_address residential_address residence_address lives_at house_address resides_at address_of_residence address_at_home: where someone lives, street, delivery, post, parcel
mailing_address postal_address correspondence_address address_for_mail address_for_letters mail_delivery_address: postal address for letters and mail
billing_address invoice_address invoicing_address address_for_invoices address_for_billing bill_to_address bill_to: billing address for invoices
shipping_address delivery_address ship_to_address ship_to deliver_to address_for_delivery address_for_deliveries parcel_address deliver_to_address: delivery address for parcels and orders
work_address office_address address_at_work workplace_address address_of_office address_of_work job_address: address of the office or workplace
postcode zip plz zip_postcode postal_postcode postcode_area: postal code
phone ph telefon reachable_by_phone_at phone_contact_number: telephone number, call, ring someone
mobile mob gsm gsm_number mobile_contact_number cellular cellular_phone cellular_number: telephone number, call, ring someone
work_phone office_phone business_phone phone_at_work phone_work work_number job_phone professional_phone: work phone number, office telephone
work_mobile business_mobile office_mobile mobile_at_work mobile_work professional_mobile: mobile phone number for work
home_phone house_phone phone_at_home phone_home household_phone: home phone number
private_phone personal_phone phone_private phone_personal: private phone number
landline fixed_line fixed_line_number landline_phone fixed_line_phone fixed_phone: telephone number, call, ring someone
email email_id emailaddress electronic_mail electronic_mail_address contact_by_email_at: e-mail, write to, message
work_email office_email business_email email_at_work professional_email company_email corporate_email email_work job_email: work email address, business email
private_email personal_email email_private email_personal private_mail non_work_email: private personal email address
fax telefax facsimile fax_line: fax number
website homepage web_address web_page webpage website_url homepage_url website_address web_url website_link: page on the internet
timezone tz local_timezone timezone_name lives_in_timezone: local time
emergency_contact ice_contact in_case_of_emergency contact_in_emergency contact_in_case_of_emergency emergency_contact_person emergency_person person_to_call_in_emergency whom_to_call_in_emergency call_in_emergency: whom to call in an emergency
emergency_phone emergency_contact_phone emergency_contact_number: phone number to call in an emergency
preferred_contact_method contact_preference preferred_contact_channel best_way_to_reach best_way_to_contact contact_method_preference preferred_means_of_contact preferred_communication_channel preferred_way_of_contact preferred_method_of_contact prefers_to_be_contacted_by preferred_way_to_be_contacted how_to_reach: how to contact someone, get hold of, call or write
spouse wife husband married_to better_half wedded_to: spouse, married, partner
partner significant_other life_partner romantic_partner domestic_partner relationship_partner in_relationship_with in_a_relationship_with partner_in_life: relationship, couple, together with
girlfriend gf lady_friend: relationship, couple, together with
boyfriend bf: relationship, couple, together with
fiance fiancee engaged_to betrothed_to future_spouse betrothed: relationship, couple, together with
ex_spouse ex_wife ex_husband former_spouse former_wife former_husband divorced_from previous_spouse previous_wife previous_husband: former wife or husband, divorced from, separated
ex_partner former_partner previous_partner past_partner: separated, split up, former partner
marital_status civil_status family_status marriage_status matrimonial_status marital_state: married, single or divorced
relationship_status dating_status relationship_state: married, single or divorced
wedding_anniversary marriage_anniversary wedding_date married_on wedding_day marriage_date married_since got_married_on when_married when_got_married anniversary_of_wedding: marriage, wedding anniversary, wed
mother mama mamma female_parent: mum, mom, parent
father papa male_parent: dad, parent
parents mother_and_father father_and_mother parents_names: mother and father
mother_in_law mil spouse_mother mother_of_spouse wife_mother husband_mother: parent of the spouse
father_in_law fil spouse_father father_of_spouse wife_father husband_father: parent of the spouse
brother_in_law bil: brother-in-law
sister_in_law sil: sister-in-law
stepmother stepmum stepmom: stepmother
stepfather stepdad: stepfather
grandmother nan nanna grandmom grandmum: granny, grandparent
grandfather grandpop: granddad, grandparent
has_child child children kid kids has_children has_kid has_kids parent_of offspring child_name children_names childs_name kids_names: son or daughter, kids, family
number_of_children children_count how_many_children number_of_kids kids_count number_children child_count how_many_kids amount_of_children number_kids: how many children someone has
son male_child: child, boy, kid
daughter female_child: child, girl, kid
siblings brother_and_sisters sister_and_brothers: sister or brother, sibling
number_of_siblings sibling_count siblings_count how_many_siblings number_siblings number_of_brother_and_sisters: how many brothers and sisters
brother: sister or brother, sibling
sister sis: sister or brother, sibling
grandchild grandkid: child of a child
aunt auntie aunty: relative, family
friend has_friend friend_of friend_with good_friend pal buddy: closest friend, mate, pal
best_friend closest_friend bestie bff best_mate best_buddy best_pal: closest friend, mate, pal
neighbor next_door_neighbor: next door, street
roommate flatmate housemate shares_flat_with shares_apartment_with shares_a_flat_with apartment_mate: shares the apartment
lives_with shares_home_with shares_household_with lives_together_with cohabits_with who_lives_with: who lives in the same home
babysitter sitter baby_sitting_by babysits: looks after children, picks up from school
employer works_at works_for employed_by employed_at employed_with employer_company employing_company company_of_employment where_works where_work where_working where_employed company_works_for employment_company job_at has_job_at employment_place: company someone works for, employed, job
former_employer previous_employer ex_employer past_employer last_employer prior_employer old_employer used_to_work_at used_to_work_for formerly_employed_by previously_employed_by: former employer, where someone used to work
occupation job profession works_as employed_as vocation line_of_work what_for_a_living does_for_a_living what_for_living does_for_work earns_living_as professional_occupation what_for_work job_is: work, career, what someone does for a living
job_title job_position job_role role_at_work title_at_work work_title work_role work_position position_at_work position_title position_at_company role_at_company official_job_title title_at_company: work, career, what someone does for a living
former_job previous_job past_job ex_job old_job last_job prior_job former_occupation previous_occupation former_profession previous_profession used_to_work_as past_occupation: former job, what someone used to do
department work_department department_at_work works_in_department: department at work
work_team team_at_work works_in_team works_on_team job_team: team someone works in
industry business_sector industry_sector sector works_in_industry works_in_sector line_of_business branch_of_industry industry_branch: industry, business sector
salary wage wages pay remuneration earns salary_amount pay_amount: earns, earnings, how much money
annual_salary yearly_salary salary_per_year yearly_pay annual_pay salary_per_annum annual_wage yearly_wage pay_per_year earns_per_year: yearly salary, how much someone earns a year
monthly_salary salary_per_month monthly_pay monthly_wage pay_per_month earns_per_month monthly_earnings: monthly salary, how much someone earns a month
payday pay_day salary_day salary_date payday_date salary_paid_on gets_paid_on wage_day: payday, when the salary is paid
job_start_date employment_start_date started_job_on starts_of_employment joined_company_on hire_date hired_on first_day_at_work first_day_of_work start_date_of_employment work_start_date employment_start began_job_on: when someone started the job
working_hours work_hours hours_of_work working_times work_times work_schedule working_time working_schedule job_hours when_works: working days, working time, days off
work_days working_days days_of_work workdays days_worked weekdays_worked: days on which someone works
work_location office_location location_of_work location_of_office job_location workplace_location where_office_is work_site_location: where the office or place of work is
remote_work works_remotely works_from_home wfh remote_working working_remotely remote_work_arrangement: working from home, remote work
boss manager supervisor line_manager direct_manager reports_to direct_supervisor direct_superior immediate_superior manager_at_work boss_at_work immediate_manager: superior, head, reports to
assistant personal_assistant executive_assistant: stands in, replaces, covers for, helps
vacation_days leave_days annual_leave annual_leave_days vacation_allowance holiday_entitlement leave_entitlement days_of_leave days_of_vacation number_of_vacation_days vacation_entitlement holiday_allowance annual_leave_entitlement: days off, holidays left
next_vacation next_holiday upcoming_vacation upcoming_holiday next_holiday_trip: next holiday, when or where the next vacation is
school attends_school goes_to_school_at pupil_at school_attending school_attends which_school: pupil, class, education, lessons
university attends_university studies_at student_at goes_to_university which_university university_attending where_studies where_studying university_attends: student, study, campus
alma_mater graduated_from university_attended attended_university degree_from alumnus_of alumna_of graduate_of university_graduated_from: university someone graduated from
field_of_study major study_subject subject_of_study degree_subject course_of_study majors_in majoring_in area_of_study major_subject what_studies what_studying study_major college_major: what someone studies, subject, major
degree academic_degree university_degree degree_earned degree_obtained holds_degree degree_held: university, graduate, study
education_level highest_education level_of_education highest_degree educational_level educational_attainment highest_qualification highest_level_of_education: highest level of education
graduation_date graduated_on graduates_on graduation_day when_graduates when_graduated: when someone graduates
school_grade grade_level class_level year_group year_in_school grade_in_school grade_at_school class_in_school school_class: which grade or class a child is in
teacher school_teacher: school, lessons, teaches
class_teacher form_teacher homeroom_teacher form_tutor: class teacher, form teacher
kindergarten preschool goes_to_kindergarten attends_kindergarten pre_school nursery_school attends_preschool: looks after children, picks up from school
daycare day_nursery creche childcare_center daycare_center child_daycare attends_daycare: looks after children, picks up from school
speaks languages spoken_language spoken_languages speaks_language speaks_languages languages_spoken language_spoken fluent_in knows_language can_speak languages_known knows_languages: language someone can speak, talk, understand
native_language mother_tongue first_language native_tongue native_speaker_of language_native: language someone can speak, talk, understand
preferred_language language_preference language_of_choice communication_language correspondence_language prefers_language reply_language language_to_use answer_language conversation_language response_language language_for_communication: language to answer or write in
learning_language learns_language language_learning studying_language studies_language language_being_learned is_learning_language learning_a_language: language someone is learning
doctor gp family_doctor general_practitioner primary_care_doctor pcp primary_care_provider regular_doctor family_gp usual_doctor: doctor, practice, medical appointment
dentist family_dentist dental_surgeon dental_doctor tooth_doctor regular_dentist: teeth, toothache, dental appointment
pediatrician childrens_doctor kids_doctor child_doctor doctor_for_children children_doctor: doctor, practice, medical appointment
gynecologist obgyn ob_gyn womens_doctor: doctor, treatment, therapy
dermatologist skin_doctor skin_specialist: doctor, treatment, therapy
eye_doctor ophthalmologist eye_specialist: eye doctor, ophthalmologist
psychotherapist psychological_therapist talk_therapist therapist_for_mental_health: psychotherapist, therapist for mental health
physiotherapist physio physical_therapist physiotherapist_name: doctor, treatment, therapy
pharmacy usual_pharmacy local_pharmacy regular_pharmacy preferred_pharmacy pharmacy_of_choice: medicine, chemist
blood_type abo_blood_type abo_group bloodgroup: blood donation, transfusion
height body_height how_tall stature height_of_body: how tall, body size
weight body_weight weighs how_heavy weight_of_body: how heavy, body weight
shoe_size shoes_size footwear_size wears_shoe_size size_in_shoes: footwear, boots, foot
clothing_size clothes_size apparel_size garment_size size_in_clothes wears_size: clothing size
ring_size finger_size ring_finger_size: ring size
eye_color eyes_color: colour of the eyes
hair_color: colour of the hair
allergic_to allergy allergies has_allergy has_allergies has_allergy_to allergen allergens suffers_from_allergy_to allergic_reaction_to reacts_allergically_to: allergic, must not eat or be given, dangerous, reaction
intolerance intolerant_to intolerant_of has_intolerance_to intolerance_to has_intolerance: allergic, must not eat or be given, dangerous, reaction
dietary_restriction food_restriction diet_restriction dietary_limitation dietary_requirement eating_restriction: what someone eats, food, meals, cooking, vegetarian
diet eating_style follows_diet dietary_style diet_type on_diet diet_followed way_of_eating nutrition_style kind_of_diet eats_diet: what someone eats, food, meals, cooking, vegetarian
takes_medication medication medicine takes_medicine on_medication medication_taken prescribed_medication medicine_taken: pills, tablets, drugs, dose, medicine
medication_schedule medication_times medicine_schedule medicine_times pill_schedule medication_timing when_takes_medication when_to_take_medication dosing_schedule schedule_for_medication when_takes_medicine meds_schedule: when to take medicine or pills
dosage dose medication_dose medicine_dose medication_dosage dose_of_medication medicine_dosage: dose of a medicine
medical_condition health_condition has_medical_condition has_health_condition: illness, medical condition, ill, sick, symptoms
health_insurance health_insurer health_insurance_company health_insurance_provider medical_insurance medical_insurer medical_insurance_company sickness_fund health_fund medical_insurance_provider krankenkasse health_insured_with health_insurance_fund: medical bills, cover, deductible
health_insurance_number health_insurance_id medical_insurance_number medical_insurance_id number_of_health_insurance: health insurance number
vaccination_status immunization_status immunisation_status vaccine_status vaccination_state: vaccinations someone had
smoker smokes smoking_status is_smoker smoking_habit is_a_smoker smoking_habits tobacco_use: cigarettes
alcohol_consumption drinks_alcohol drinking_habits alcohol_use drinking_habit alcohol_habits: whether and how much alcohol someone drinks
likes enjoys loves fond_of adores keen_on takes_pleasure_in fan_of a_fan_of really_likes likes_a_lot: fond of, enjoys, interested in
dislikes hates doesnt_like does_not_like cannot_stand cant_stand detests not_fond_of loathes averse_to do_not_like dont_like doesnt_enjoy can_not_stand: does not like, cannot stand, avoids
hobby pastime has_hobby leisure_activity free_time_activity spare_time_activity does_for_fun leisure_pursuit freetime_activity recreational_activity: spare time, leisure, does for fun
favorite_food favorite_dish food_favorite most_liked_food best_liked_food likes_best_to_eat favorite_thing_to_eat: food, eat, cook, meal
favorite_cuisine preferred_cuisine favorite_kind_of_food cuisine_preference favorite_type_of_cuisine cuisine_of_choice: favourite cuisine
favorite_drink favorite_beverage drink_of_choice beverage_of_choice preferred_drink preferred_beverage favorite_thing_to_drink goes_to_drink: favourite drink
favorite_color preferred_color color_preference color_favorite choice_color best_liked_color likes_color_best: favourite colour
favorite_movie favorite_film movie_favorite film_favorite best_liked_movie best_liked_film favorite_motion_picture: favourite film or movie
favorite_book best_liked_book book_favorite favorite_read most_loved_book: favourite book
favorite_music favorite_music_genre preferred_music music_preference music_taste taste_in_music favorite_kind_of_music favorite_type_of_music musical_taste music_preferences preferred_music_genre: favourite music, what someone listens to
favorite_band favorite_music_group favorite_musical_group favorite_rock_band band_favorite: musical instrument, music
favorite_song favorite_track best_liked_song song_favorite favorite_tune: favourite song
favorite_sport preferred_sport sport_favorite best_liked_sport: favourite sport
favorite_team favorite_sports_team supports_team team_supported roots_for_team fan_of_team supported_team favorite_sport_team: fan, sports club
favorite_restaurant preferred_restaurant restaurant_of_choice goes_to_restaurant favorite_place_to_eat restaurant_favorite: favourite restaurant, where someone likes to eat
favorite_season preferred_season season_favorite best_liked_season favorite_time_of_year: favourite season of the year
favorite_animal animal_favorite best_liked_animal: favourite animal
coffee_preference coffee_order takes_coffee how_takes_coffee preferred_coffee usual_coffee usual_coffee_order coffee_style how_likes_coffee drinks_coffee coffee_of_choice: how someone takes their coffee
tea_preference preferred_tea usual_tea takes_tea how_takes_tea tea_order how_likes_tea: how someone takes their tea
plays_instrument musical_instrument instrument_played plays_musical_instrument instrument_plays plays_an_instrument: musical instrument someone plays
religion faith religious_affiliation religious_belief religious_beliefs religious_faith creed: belief, church, prayer
zodiac_sign star_sign horoscope_sign sun_sign astrological_sign sign_of_zodiac zodiac starsign: star sign, zodiac
response_style answer_style reply_style preferred_response_style preferred_answer_style preferred_reply_style response_style_preference answer_style_preference how_to_answer style_of_answers: how answers should be written, short or detailed
wake_up_time gets_up_at wakes_up_at wake_time rises_at get_up_time getting_up_time when_gets_up when_wakes_up wakeup_time time_gets_up wakes_at time_wakes_up: when someone gets up or wakes up
bedtime goes_to_bed_at bed_time when_goes_to_bed time_goes_to_bed goes_to_bed_time time_for_bed when_go_to_bed: when someone goes to bed
died_on death_date deceased_on passed_away_on when_died day_of_death died_date date_died when_passed_away: when someone died
gift_ideas present_ideas gift_suggestions ideas_for_gifts ideas_for_presents gift_ideas_for present_suggestions gift_idea_list: ideas for gifts or presents
wishlist wish_list list_of_wishes gift_wishlist: present, gift, Christmas or birthday, wish list
member_of membership memberships member_in has_membership_in has_membership belongs_to_club club_membership club_member_of belongs_to_group membership_in member_at: member of, fee, institution
gym fitness_studio fitness_club fitness_center health_club goes_to_gym_at gym_attended gym_name gym_attends: sport, training, active
hairdresser hair_stylist coiffeur: hair, salon
lawyer attorney solicitor legal_advisor attorney_at_law: legal advice, law
tax_advisor tax_consultant tax_accountant tax_advisor_name: tax return, tax office
financial_advisor financial_consultant finance_advisor financial_planner money_advisor: financial adviser
real_estate_agent estate_agent realtor property_agent letting_or_estate_agent real_estate_broker: estate agent, realtor
next_appointment upcoming_appointment when_next_appointment: next appointment
doctor_appointment appointment_with_doctor gp_appointment appointment_at_doctor appointment_with_gp appointment_at_the_doctor: appointment with the doctor
dentist_appointment appointment_with_dentist dental_appointment appointment_at_dentist appointment_at_the_dentist: appointment with the dentist
has_pet pet owns_pet keeps_pet house_pet pet_owned has_a_pet: pet, animal at home, dog or cat
pet_name pets_name animal_name: name of the pet
dog_name dogs_name: name of the dog
cat_name cats_name: name of the cat
breed animal_breed breed_is what_breed which_breed: kind of dog or cat
species animal_species kind_of_animal animal_type sort_of_animal what_animal which_animal: what kind of animal it is
vet animal_doctor pet_doctor vet_surgeon doctor_for_animals: animal doctor, pet is ill
vet_clinic vet_practice animal_clinic pet_clinic animal_hospital vet_hospital vet_surgery: vet's practice or animal clinic
microchip_number chip_number microchip_id chip_id pet_chip_number microchip_code transponder_number: microchip number of a pet
pet_insurance animal_insurance pet_insurer pet_insurance_company pet_insurance_provider pet_health_insurance: insurance for the pet
feeding_time feeding_schedule fed_at feeding_times when_fed gets_fed_at when_to_feed time_to_feed feeding_hours: when the pet is fed
neutered spayed castrated is_neutered spayed_or_neutered neutering_status is_spayed is_castrated spay_neuter_status: whether the animal is neutered or spayed
dog_walker walks_the_dog dog_walker_name dog_walked_by who_walks_dog: who walks the dog
adoption_date adopted_on gotcha_day day_of_adoption when_adopted date_adopted: when the pet or child was adopted
landlord landlady lessor rents_from rents_home_from: rent, let an apartment, income from rent
rent monthly_rent rent_amount rent_per_month amount_of_rent rent_paid rent_cost how_much_rent monthly_rent_amount rent_price: monthly housing cost, landlord, apartment
rent_due_date rent_due rent_due_on rent_payment_date rent_payment_day when_rent_due when_rent_is_due rent_payable_on: when the rent is due
security_deposit rental_deposit rent_deposit tenancy_deposit deposit_for_rent deposit_for_apartment: deposit paid for the rented home
move_in_date moved_in_on moves_in_on moves_in_date when_moved_in move_in_day moved_in_date: when someone moved in
move_out_date moves_out_on moving_out_date move_out_day when_moves_out: when someone moves out
number_of_rooms room_count how_many_rooms number_rooms rooms_count amount_of_rooms: how many rooms the home has
number_of_bedrooms bedroom_count bedrooms how_many_bedrooms number_bedrooms bedrooms_count: how many bedrooms the home has
floor storey floor_level which_floor on_floor lives_on_floor floor_number apartment_floor what_floor: which floor or storey
living_area floor_area square_meters square_footage living_space floor_space sqm square_feet apartment_area house_area size_in_square_meters area_in_square_meters: size of the home in square metres
household_size people_in_household number_of_people_in_household persons_in_household household_member_count how_many_people_in_household household_members_count: how many people live in the household
wifi_password wifi_key wifi_passphrase wireless_password wifi_code wifi_pass password_for_wifi wpa_key wireless_key wifi_passcode password_of_wifi: wifi password, code for the wireless internet
wifi_name ssid wifi_network wifi_ssid wifi_network_name wireless_network_name wireless_network: wireless network, internet, connection
internet_provider isp internet_service_provider broadband_provider internet_company internet_supplier provider_of_internet broadband_supplier internet_provider_name: internet contract, provider, connection
electricity_provider electricity_supplier power_supplier power_company electricity_company electric_company power_provider electric_provider electric_supplier electricity_utility: electricity supplier, power company
gas_supplier gas_provider gas_company natural_gas_supplier gas_utility natural_gas_provider: gas supplier for heating and cooking
mobile_provider mobile_carrier phone_carrier cell_provider cell_carrier mobile_operator wireless_carrier mobile_network mobile_network_operator cellular_provider wireless_provider: mobile phone provider, carrier
mobile_plan phone_plan mobile_tariff phone_tariff cell_plan cellular_plan: mobile phone plan, tariff
garbage_day bin_day trash_day rubbish_day waste_collection_day refuse_collection_day garbage_collection_day bin_collection_day trash_pickup_day rubbish_collection_day trash_collection_day garbage_pickup_day refuse_day bins_collected_on bin_collection trash_collection waste_collection garbage_collection refuse_collection: when rubbish and bins are collected, waste
door_code entry_code entrance_code door_access_code front_door_code code_for_door door_entry_code code_for_the_door building_entry_code: code to open the door
alarm_code alarm_pin alarm_system_code burglar_alarm_code house_alarm_code code_for_alarm security_alarm_code code_for_the_alarm alarm_system_pin: security system, intruder, burglary
garage_code garage_door_code code_for_garage code_for_the_garage garage_pin garage_access_code garage_entry_code: code to open the garage
spare_key spare_key_location where_spare_key where_spare_key_is location_of_spare_key spare_key_place spare_key_kept_at spare_key_at: door, get in, locked
cleaner cleaning_lady cleaning_person house_cleaner cleaning_woman cleaning_help home_cleaner: cleaning, tidy, household help
cleaning_day cleaner_day cleaner_comes_on day_of_cleaning when_cleaner_comes cleaning_lady_comes_on house_cleaning_day: day when the cleaner comes
parking_space parking_spot parking_place parking_bay parking_space_number parking_spot_number parking_slot parking_bay_number parks_at where_parks parking_stall: car, where to park
heating_type heating_system heats_with kind_of_heating heating_method heated_with: how the home is heated
car drives drives_car owns_car drives_a car_owned car_driven what_car which_car: vehicle, drive, motor
car_brand car_make car_maker vehicle_make vehicle_brand make_of_car auto_make vehicle_maker: make or brand of the car
car_model vehicle_model auto_model: model of the car
car_color vehicle_color car_paint_color auto_color: colour of the car
license_plate number_plate plate_number license_plate_number registration_plate car_plate reg_plate vehicle_registration car_registration vehicle_registration_number car_registration_number number_plate_of_car car_plate_number plates car_reg vehicle_reg: plate, registration number
vin vehicle_identification_number chassis_number vin_number vin_code vehicle_id_number: vehicle identification number
mileage odometer odometer_reading kilometers_driven miles_driven kilometer_reading km_driven km_reading odometer_value mileage_reading: distance driven
fuel_type kind_of_fuel fuel takes_fuel fuel_used fuel_kind: petrol, diesel or electric car
car_insurance auto_insurance vehicle_insurance motor_insurance car_insurer auto_insurer car_insurance_company car_insurance_provider motor_insurer auto_insurance_company vehicle_insurer car_insured_with motor_insurance_company: motor policy, vehicle cover
mot_due tuv_due mot_due_date next_mot next_tuv tuv_due_date mot_expiry mot_valid_until tuv_valid_until tuv_expiry vehicle_inspection_due next_vehicle_inspection car_inspection_due: vehicle inspection, technical check
next_service service_due next_service_date service_due_date next_service_due next_servicing next_maintenance next_maintenance_date maintenance_due next_service_on maintenance_due_date: when the next service or maintenance is due
last_service last_serviced_on last_service_date last_servicing last_maintenance last_maintenance_date last_serviced: when it was last serviced
tire_size tires_size tire_dimensions wheel_tire_size: tyre size
tire_pressure pressure_of_tires tires_pressure tire_air_pressure: air pressure of the tyres
mechanic car_mechanic auto_mechanic vehicle_mechanic motor_mechanic: repairs the car, workshop
brand make brand_name which_brand: brand or make
maker made_by manufactured_by produced_by maker_name: who made it, manufacturer
year_built construction_year build_year built_in_year manufacture_year production_year manufacturing_year year_made: year in which it was built or made
purchase_date bought_on purchased_on date_bought date_purchased buy_date buying_date when_bought day_of_purchase when_purchased: when it was bought
purchase_price bought_for price_paid purchase_cost buying_price purchased_for paid_price bought_at_price price_bought_for: how much it cost when it was bought
owner owned_by property_of proprietor who_owns: owner, whose it is
warranty_expiry warranty_until warranty_end warranty_ends_on warranty_expires_on guarantee_until guarantee_expiry warranty_end_date under_warranty_until warranty_valid_until warranty_expires guarantee_ends_on guarantee_valid_until: until when the warranty or guarantee lasts
serial_number serial sn serial_id device_serial_number device_serial product_serial_number: serial number of a device
operating_system os runs_os device_os os_installed os_name operating_system_name which_os: program
os_version operating_system_version version_of_os version_of_operating_system: version of the operating system
firmware_version firmware fw_version version_of_firmware firmware_release: firmware version
ip_address ip internet_protocol_address: IP address in the network
mac_address hardware_address ethernet_address: MAC address of the network card
hostname host_name computer_name machine_name: host name of a computer
screen_size display_size screen_diagonal monitor_size display_diagonal: size of the screen
storage_capacity disk_size storage_size disk_capacity hard_drive_size drive_capacity ssd_size hard_disk_size drive_size amount_of_storage: disk space, how much storage it has
ram ram_size amount_of_ram ram_capacity ram_amount how_much_ram installed_ram: working memory of a computer
phone_model mobile_model smartphone_model smartphone which_phone_model: which smartphone, gadget
battery_type battery_size takes_batteries batteries_type kind_of_battery batteries_needed takes_battery battery_needed: which battery it takes
username login_name login_username logon_name sign_in_name account_username signin_name: user name for logging in
password account_password login_password passwort sign_in_password password_for_account password_for_login: secret, login, unlock
pin pin_code pin_number personal_identification_number pin_no: secret, login, unlock
unlock_code lock_code screen_lock_code passcode device_passcode unlock_pin screen_unlock_code: secret code that unlocks the device
bank banks_with banks_at bank_name house_bank bank_used which_bank: bank, money, account
iban iban_number international_bank_account_number iban_no iban_code bank_account_iban: bank details, transfer
bank_account_number number_of_bank_account: bank account number
bic swift swift_code bic_code swift_bic bic_swift swift_number: BIC or SWIFT code of the bank
balance account_balance balance_amount balance_of_account money_in_account account_balance_amount: balance, how much money is in the account
customer_number client_number customer_id number_of_customer customer_identification_number: customer number
membership_number member_number member_id membership_id membership_card_number: membership number
frequent_flyer_number frequent_flyer_id frequent_flyer_no ff_number airline_loyalty_number frequent_flier_number miles_number miles_card_number: frequent flyer number, airline miles card
tax_id tin taxpayer_id tax_identification_number taxpayer_identification_number tax_identifier taxpayer_identification tax_identification: tax identification number
social_security_number ssn social_security_no social_security_id: social security number
vat_number vat_id vat_registration_number ust_id value_added_tax_number vat_identification_number vat_reg_number: VAT number of a company
passport_number passport_id number_of_passport passport_document_number: passport number
passport_expiry passport_valid_until passport_expires_on passport_expires passport_valid_till expiry_of_passport date_passport_expires when_passport_expires passport_validity_end passport_good_until passport_valid_through: until when the passport is valid
id_card_number identity_card_number number_of_id_card number_of_identity_card identity_card_id: identity card number
id_card_expiry identity_card_expiry id_card_valid_until id_card_expires_on identity_card_valid_until identity_card_expires_on id_card_expires expiry_of_id_card: until when the identity card is valid
drivers_license_number driving_license_number driver_license_number driving_permit_number: driving licence number
drivers_license_expiry driving_license_expiry driver_license_expiry driving_license_valid_until drivers_license_valid_until driving_license_expires_on drivers_license_expires_on driver_license_valid_until drivers_license_expires: until when the driving licence is valid
visa_type visa_category visa_class kind_of_visa category_of_visa: kind of visa
visa_expiry visa_valid_until visa_expires_on visa_expires expiry_of_visa visa_valid_till when_visa_expires visa_valid_through: until when the visa is valid
payment_method pays_by pays_with method_of_payment means_of_payment how_pays payment_type way_of_payment mode_of_payment paid_by_method payment_mode: how someone pays, payment method
due_date deadline due_on due_by when_due must_be_done_by to_be_done_by has_to_be_done_by date_due due needs_to_be_done_by: deadline, latest date, when it is due
payment_due_date payment_due payment_due_on when_payment_due payment_deadline payment_due_by payable_by date_payment_due to_be_paid_by must_be_paid_by: when the payment is due
monthly_fee fee_per_month monthly_cost cost_per_month monthly_price price_per_month monthly_charge costs_per_month monthly_costs price_monthly: how much it costs a month
annual_fee yearly_fee fee_per_year annual_cost cost_per_year yearly_cost annual_price yearly_price price_per_year annual_charge costs_per_year fee_per_annum: how much it costs a year
invoice_number bill_number invoice_id number_of_invoice: invoice number
invoice_amount invoice_total bill_amount amount_of_invoice bill_total invoice_sum total_of_invoice invoiced_amount: how much the invoice or bill is
order_number order_id number_of_order: order number
tracking_number tracking_id tracking_code parcel_tracking_number shipment_tracking_number package_tracking_number: tracking number of a parcel
budget budget_amount allocated_budget available_budget amount_budgeted budgeted_amount: how much money may be spent
savings_goal savings_target saving_goal saving_target goal_for_savings savings_objective: how much someone wants to save
interest_rate rate_of_interest interest_percentage interest_rate_percent: interest rate
mortgage_lender mortgage_bank mortgage_provider mortgage_company mortgage_held_by mortgage_with: bank of the mortgage
start_date starts_on begins_on begin_date starting_date beginning_date start_day when_starts when_begins commencement_date commences_on begins_date: when it starts or begins
end_date ends_on finish_date ending_date when_ends finishes_on end_day when_finishes finishing_date: when it ends
start_time starts_at begins_at begin_time starting_time beginning_time time_it_starts: at what time it starts
end_time ends_at finishes_at finish_time ending_time finishing_time time_it_ends: at what time it ends
expiry expires_on expires valid_until valid_till valid_thru valid_through expires_at when_expires good_until validity_end validity_end_date expiry_day: deadline, runs out, renew
duration lasts how_long lasts_for length_of_time how_long_lasts takes_how_long: how long it lasts
contract_start_date contract_start contract_starts_on contract_begins_on starts_of_contract contract_start_day contract_begin_date begins_of_contract contract_begin: when the contract starts
contract_end_date contract_end contract_ends_on ends_of_contract contract_expiry contract_expires_on contract_runs_until contract_expires contract_valid_until when_contract_ends: when the contract ends
contract_number contract_id agreement_number number_of_contract agreement_no: contract number
contract_duration contract_term contract_length length_of_contract duration_of_contract contract_period term_of_contract: how long the contract runs
policy_number insurance_policy_number policy_id number_of_policy insurance_policy_id: number of the insurance policy
notice_period period_of_notice termination_notice_period cancellation_notice_period termination_period length_of_notice notice_required required_notice notice_time: how long before the end one must give notice
cancellation_deadline cancel_by must_cancel_by last_day_to_cancel cancel_before latest_cancellation_date cancelable_until can_be_canceled_until termination_deadline deadline_to_cancel deadline_for_cancellation: until when one can cancel
renewal_date renews_on next_renewal next_renewal_date renewal_day renews when_renews renewal_due renewal_on renewed_on renewal_due_date: when it renews
auto_renewal auto_renew automatic_renewal renews_automatically auto_renews autorenew autorenewal is_renewed_automatically automatically_renews: whether it renews automatically
signed_on signing_date date_signed signature_date when_signed signed_date day_of_signing: when it was signed
insurer insurance_company insurance_provider insured_with insured_by insurance_carrier insured_at insurance_company_name: insurance policy, cover, premium
insurance_premium premium_amount amount_of_premium insurance_premium_amount insurance_cost premium_for_insurance: how much the insurance costs
deductible insurance_excess insurance_deductible deductible_amount excess_amount policy_excess policy_deductible amount_of_deductible: deductible or excess of the insurance
sum_insured insured_sum coverage_amount insured_amount insurance_sum cover_amount amount_insured amount_of_cover amount_of_coverage: how much the insurance covers
subscription_plan subscription_tier subscription_type subscription_level subscribed_plan subscription_package plan_subscribed_to: which plan or tier is subscribed
destination travel_destination trip_destination travels_to bound_for heading_to destination_of_trip where_trip_goes journey_destination destination_place: place to go
holiday_destination vacation_destination holiday_location vacation_location holiday_place vacation_place where_holiday where_on_holiday where_on_vacation vacation_spot holiday_spot: where the holiday or vacation is
departure_date departs_on leaves_on day_of_departure departure_day depart_date when_departs outbound_date: when the trip starts, day of departure
return_date returns_on comes_back_on back_on coming_back_on return_day returning_on when_returns when_comes_back day_of_return back_home_on: when someone comes back
arrival_date arrives_on day_of_arrival arrival_day when_arrives: day of arrival
departure_time departs_at leaves_at takes_off_at takeoff_time take_off_time depart_time: at what time it leaves
arrival_time lands_at landing_time arrive_time time_it_arrives touchdown_time: at what time it arrives
departure_airport origin_airport airport_of_departure from_airport flies_from departing_airport departs_from_airport outbound_airport: airport where the flight leaves
arrival_airport destination_airport airport_of_arrival to_airport arriving_airport arrives_at_airport airport_of_destination landing_airport: airport where the flight lands
departure_place departs_from departure_location leaves_from departure_point point_of_departure: where the trip starts from
flight_number flight_code number_of_flight flight_id: flight number
airline flies_with airline_company airline_used: fly, plane, airport
preferred_airline favorite_airline airline_preference airline_of_choice prefers_airline best_liked_airline prefers_to_fly_with: favourite airline
booking_reference booking_code booking_number booking_id reservation_number reservation_code reservation_id pnr record_locator reservation_reference booking_confirmation_number reservation_no booking_ref: reserved, confirmation
seat_number seat seat_assignment assigned_seat sits_in_seat reserved_seat booked_seat: which seat is booked, where to sit
seat_preference preferred_seat favorite_seat prefers_seat seating_preference window_or_aisle aisle_or_window preferred_seating seat_of_choice airplane_seat_preference flight_seat_preference plane_seat_preference: where to sit
hotel hotel_booked booked_hotel reserved_hotel which_hotel: place to stay, room
accommodation lodging stays_at stay_place where_stays where_staying accommodations place_to_stay accomodation lodgings: place to stay, room
checkin_date checkin_day checks_in_on day_of_checkin checking_in_on: day of check-in
checkout_date checkout_day checks_out_on day_of_checkout checking_out_on: day of check-out
checkin_time checks_in_at checkin_from earliest_checkin: from when one can check in
checkout_time checks_out_at checkout_until latest_checkout checkout_by: until when one must check out
room_number hotel_room_number number_of_room: room number
gate gate_number boarding_gate departure_gate flight_gate: gate at the airport
boarding_time boards_at boarding_at boarding_starts_at boarding_begins_at: when boarding starts
travel_companion travels_with travel_buddy fellow_traveler travel_partner travel_mate accompanied_on_trip_by: who travels along
travel_insurance trip_insurance travel_insurer travel_insurance_company travel_insurance_provider: travel insurance
trip_purpose purpose_of_trip reason_for_trip travel_purpose purpose_of_travel reason_for_travel reason_for_traveling trip_reason travel_reason: why someone travels
home_airport usual_airport usual_departure_airport airport_usually_used regular_airport: airport someone usually flies from
rental_car hire_car rented_car hired_car car_rented car_hired: rental car, hire car
project_status status_of_project project_state state_of_project status_of_the_project: how the project stands
priority priority_level level_of_priority how_important prio priority_rank: priority, how important it is
progress percent_complete completion_percentage percent_done progress_percent progress_percentage how_far_along percentage_complete percent_completed percentage_done: how far along it is
project_manager project_managed_by manager_of_project manager_of_the_project: who manages the project
project_lead project_leader project_led_by leader_of_project lead_of_project head_of_project: who leads the project
assignee assigned_to assigned_person person_assigned who_assigned task_assigned_to: who the task is assigned to
responsible_person person_responsible person_in_charge who_responsible who_is_responsible who_in_charge who_is_in_charge responsible_party: who is responsible or in charge
client customer client_name customer_name: customer, buyer, account
contact_person point_of_contact contact_partner contact_person_name person_to_contact whom_to_contact who_to_contact: contact person, whom to ask
launch_date launches_on launch_day go_live_date goes_live_on golive_date when_launches going_live_on go_live go_live_day: when it goes live, launch
release_date released_on releases_on release_day when_released publication_release_date: when it is released
programming_language coding_language code_language coded_in programmed_in written_in_language implementation_language language_programmed_in computer_language: programming language
repository repo git_repo repo_url repository_url code_repository git_repository source_repository source_repo code_repo repo_link source_code_repository: code repository, git
database db database_used uses_database database_system dbms database_engine: database
hosting_provider hosted_by hosting_company hosted_with web_host hosting_service web_hosting_provider hoster web_hoster: who hosts it
domain domain_name web_domain internet_domain website_domain: internet domain
code_editor ide programming_editor coding_editor preferred_ide preferred_code_editor favorite_code_editor favorite_ide editor_for_code: editor or IDE for writing code
version version_number release_version version_no: version
software_license licensed_under open_source_license license_of_software license_of_code code_license: licence of the software
goal objective aim goal_is aims_to_achieve: aim, wants to reach, training for
next_step next_action next_steps next_actions next_thing_to_do what_to_next: what to do next
meeting_time meets_at meeting_at when_meeting meeting_starts_at: at what time the meeting is
meeting_day day_of_meeting meets_on meeting_weekday meeting_on: on which day the meeting is
standup_time daily_standup_time standup_at daily_standup_at standup_meeting_time stand_up_time: when the daily standup is
location located_in situated_in where_located where_situated place_located: where someone lives, town, apartment or house
current_location whereabouts present_location where_right_now where_now current_whereabouts right_now_in where_is_now: where someone is right now
storage_place kept_in stored_in stored_at kept_at storage_location where_kept where_stored place_kept place_stored where_is_kept where_is_stored: where something is kept or stored, place
venue event_location event_venue held_at takes_place_at event_place where_takes_place where_held venue_name location_of_event: where the event takes place
opening_hours business_hours hours_of_operation open_hours opening_times hours_open when_open store_hours trading_hours shop_hours opening_time_hours office_opening_hours hours_of_opening: when it is open
founder founded_by started_by_founder established_by who_founded: who founded the company
founding_date founded_on foundation_date established_on date_founded when_founded founded_date date_established: when it was founded
founding_year year_founded year_established foundation_year founded_in_year established_in_year: year in which it was founded
headquarters head_office headquartered_in headquarters_location location_of_headquarters headquarters_city corporate_headquarters company_headquarters corporate_head_office: headquarters, head office of the company
ceo chief_executive chief_executive_officer company_ceo: chief executive of the company
number_of_employees employee_count headcount staff_size staff_count how_many_employees workforce_size number_employees number_of_staff staff_headcount amount_of_employees: how many people work there
annual_revenue yearly_revenue annual_turnover yearly_turnover revenue_per_year turnover_per_year annual_revenues yearly_sales_revenue: yearly revenue, turnover of the company
parent_company parent_organization mother_company parent_corporation holding_company parent_firm: parent company
instagram instagram_handle instagram_username instagram_account insta insta_handle ig_handle instagram_name instagram_profile ig_account: online profile, account
twitter twitter_handle twitter_username twitter_account twitter_name twitter_profile x_handle: online profile, account
linkedin linkedin_profile linkedin_url linkedin_account linkedin_page linkedin_link linkedin_profile_url: online profile, account
github github_username github_handle github_account github_user github_login github_profile github_name: GitHub account
discord discord_username discord_handle discord_tag discord_name discord_account discord_user: Discord account
telegram telegram_handle telegram_username telegram_account telegram_name: Telegram account
whatsapp whatsapp_number whatsapp_phone: WhatsApp number
`;

/**
 * Names, and words or phrases within names, that have a gloss and share no key: `winter_tires` is explained by the line of
 * `tires`.
 */
export const wordTable = `
born: birth date, when someone was born, age, how old
born_in: where someone was born, town of birth, origin
language spoken: language someone can speak, talk, understand
shoe shoes: footwear, boots, foot
clothing clothes shirt dress trousers jacket: clothes, wear, fits
size: size that fits
ring jewelry: jewellery, finger
hair barber haircut: hair, salon
eyes glasses eyesight contact_lenses optician: spectacles, lenses, vision
home lives_on lives moved_to: where someone lives, town, apartment or house
country: land, abroad
direct_line extension: telephone number, call, ring someone
contact reach: how to contact someone, get hold of, call or write
blog: page on the internet
social_media: online profile, account
wedding married anniversary: marriage, wedding anniversary, wed
divorce separation separated breakup: separated, split up, former partner
baby pregnancy pregnant: expecting a child, birth
sibling: sister or brother, sibling
grandson granddaughter: child of a child
in_law in_laws: parent of the spouse
uncle cousin niece nephew relative: relative, family
godfather godmother godson goddaughter godchild: godparent, baptism
friends: closest friend, mate, pal
neighbors: next door, street
died death deceased: dead, passed away
grave cemetery funeral: buried, burial
will testament inheritance executor: last wishes, heirs, in case of death
dispute conflict complaint quarrel: argument, angry, annoyed
owes debt lent borrowed loan: owe money, borrow, pay back
position role function: work, career, what someone does for a living
company workplace firm: company someone works for, employed, job
business self_employed freelance startup: own company, trade
colleague coworker team teammate: works together, people at work
deputy substitute stand_in secretary: stands in, replaces, covers for, helps
mentor mentee mentoring apprentice intern: teaches, coaches, trainee
clients customers: customer, buyer, account
supplier vendor: delivers, sells
project main_project: work project, task
milestone: due, latest date
meeting standup: appointment, conference, call
working_pattern shift office_hours: working days, working time, days off
office office_days desk: at work, in person, workplace
commute: way to work
remote home_office: works from home
income bonus: earns, earnings, how much money
raise promotion: better paid job
pension retirement: retirement savings, retire
career career_goal ambition: professional goals, wants to become
offer declined_offer application interview: job offer, apply, rejected
contract: agreement, terms, notice period
leave: days off, holidays left
appraisal review performance_review: evaluation, yearly talk
talk conference lecture presentation speech: lecture, speaks in public, event
professional_body member association union: member of, fee, institution
work: business, professional, job
personal private: private, not business
studies studied education qualification: university, graduate, study
college: student, study, campus
studying course class training learning: course, lessons, studies, education
tutor: school, lessons, teaches
nursery childcare nanny childminder after_school_care: looks after children, picks up from school
parents_evening: school meeting with the teacher
exam test grade: school results, mark
homework: school work
learning_support special_needs dyslexia: extra lessons, learning difficulty
pocket_money allowance: money for children, weekly
screen_time: time on phone or television
mortgage: home loan, interest rate, bank
mortgage_payment payment instalment installment: monthly cost, pays, amount
tenant rental rental_property letting: rent, let an apartment, income from rent
account bank_account joint_account: bank, money, account
account_number: bank details, transfer
credit_card card debit_card: payment card
savings emergency_fund reserve: money put aside, reserve, cushion
spending expenses: how much money may be spent
investment investments shares stocks portfolio: invested money, fund
tax taxes tax_return self_assessment: tax return, tax office
accountant bookkeeper: bookkeeping, accounts, taxes
notary: legal advice, law
insurance policy: insurance policy, cover, premium
home_insurance household_insurance contents_insurance: policy for house and contents
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
garage parking: car, where to park
cellar basement: below the house, storage
loft attic roof: top of the house
heating boiler radiator thermostat: heating, warm, hot water
fault problem issue defect error error_code broken: broken, not working, what to do
plumber water_leak: pipe, leak, water, repairs
electrician fuse fuse_box: power, lights, wiring
water_shutoff stopcock water_meter: water valve, turn off
wifi router: wireless network, internet, connection
code password_hint: secret, login, unlock
alarm burglar_alarm: security system, intruder, burglary
key keys lockbox: door, get in, locked
safe: valuables, documents, locked away
bin bins garbage trash waste recycling: rubbish, waste collection
internet broadband: internet contract, provider, connection
energy_supplier electricity gas power utility: electricity, gas, bill, supplier
solar solar_panels: photovoltaics, roof, power
renovation conversion loft_conversion refurbishment: building work, construction
builder contractor handyman roofer carpenter painter: tradesperson, building work, repairs
smoke_alarm smoke_detector: fire, battery
cleaning housekeeper: cleaning, tidy, household help
gardener: garden work, lawn
appliance washing_machine dishwasher dryer oven fridge freezer: household machine, kitchen
furniture sofa bed mattress: furnishing
pump: water, flood
printer: print, ink, toner
computer laptop desktop: machine, PC
tablet device: gadget
tv: watch
software app: program
backup: copy of files, data
cloud storage: files, data
moving move moving_date: new home, relocation
shopping groceries supermarket: buy, shop, food
storage stored keeps kept: where it is, place
documents certificates birth_certificates papers: papers, folder
id_card identity_card: identification, document
passport: travel document, abroad, expires, renew
visa: entry permit, travel
drivers_license driving_license license: permission to drive
dog: pet, animal, breed, puppy
cat: pet, animal, breed, kitten
pets animal animals guinea_pigs rabbit hamster fish bird horse: pet, animal at home
microchip: chip number of a pet
kennel boarding petsitter: looks after the pet while away
behavior temperament habit habits: reacts, character, usually
specialist cardiologist therapist psychologist: doctor, treatment, therapy
hospital clinic: hospital, treatment
orthodontist braces dental: teeth, toothache, dental appointment
appointment check_up checkup: appointment, date, visit
health condition chronic_condition illness disease diagnosis: medical condition, ill, sick, symptoms
asthma: trouble breathing, inhaler
diabetes: blood sugar, insulin
medications prescription supplement: pills, tablets, drugs, dose
injury surgery operation: hurt, accident, operated
blood_pressure: hypertension, measured values
cholesterol: blood fat, lipids, laboratory
vaccination vaccine vaccinations jab flu_jab flu_shot: vaccinated against, shot, immunisation
migraine headache: head pain
sleep sleep_trouble insomnia: cannot sleep, night, tired
stress mental_health: worry, mood
smoking: cigarettes
alcohol: drinks wine, beer
eats nutrition does_not_eat: what someone eats, food, meals, cooking, vegetarian
food dish meal: food, eat, cook, meal
breakfast lunch dinner: meal, eat
recipe cooking cooks: cook, kitchen, meals
cooking_rota rota chores: whose turn, household duty
drink drinks hot_drink beverage tea coffee: drink, cup, tea or coffee
restaurant restaurants cafe bar pub: eat out, dinner, reserve a table
cuisine: kind of food, restaurant
snack sweets dessert: sweet, cake
interests interest current_interest: fond of, enjoys, interested in
favorite: likes most, loves
prefers preference preferences taste: would rather have, likes
afraid_of fear fears phobia: scared, frightened
hobbies free_time leisure: spare time, leisure, does for fun
sport sports exercise workout fitness: sport, training, active
running runs marathon: run, race, jogging
cycling bike bicycle: ride, cycle
swimming: swim, pool
football soccer basketball tennis hockey: match, play, team
yoga pilates: exercise class
hiking climbing skiing: mountains, outdoors
supports: fan, sports club
team club after_school_club: group, activity, meets
goals running_goal resolution target: aim, wants to reach, training for
music instrument plays: musical instrument, music
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
gift present gift_wish gift_idea wishes_for wish wishes: present, gift, Christmas or birthday
party celebration christmas: celebrate, guests
trip travel vacation holiday journey travel_plan: travel, holiday, going away
plan plans upcoming next: planned, going to, soon
flight flights: fly, plane, airport
apartment_rental: place to stay, room
booking reservation: reserved, confirmation
luggage packing: suitcase, pack
train railcard rail_pass tickets: train tickets, discount
bus tram transport: public transport
ferry cruise: ship, boat
travel_sickness motion_sickness: ill on a journey, car ride
visit next_visit guest guests: arrives, stays, comes to see
favorite_place: place to go
vehicle: vehicle, drive, motor
registration: plate, registration number
mot inspection tuv: vehicle inspection, technical check
repair_shop: repairs the car, workshop
tires winter_tires: wheels of the car
charging: petrol, diesel, electric car
motorcycle scooter: motorbike
boat camper caravan: vehicle, trips
open hours: when it is open
schedule timetable routine: when, regular times
renewal: deadline, runs out, renew
start starts begins: from when
end ends: until when
number: digits
status state: current situation
note remark: worth knowing
reminder todo task: not to forget, to do
background history: past, biography
has_friends: closest friend, mate, pal
medicines meds takes_meds takes_medications: pills, tablets, drugs, dose, medicine
pastimes has_hobbies leisure_activities free_time_activities: spare time, leisure, does for fun
has_pets owns_pets keeps_pets: pet, animal at home, dog or cat
`;
