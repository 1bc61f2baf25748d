/** Lists of words that tell one reading from another. Lower case, as alternatives of a regular expression. */

export const languages =
  'afrikaans|albanian|amharic|arabic|armenian|basque|bengali|bosnian|bulgarian|cantonese|catalan|croatian|czech|danish|dutch|english|esperanto|estonian|farsi|finnish|flemish|french|galician|georgian|german|greek|gujarati|hausa|hebrew|hindi|hungarian|icelandic|igbo|indonesian|irish|italian|japanese|korean|kurdish|latin|latvian|lithuanian|luxembourgish|malay|maltese|mandarin|chinese|marathi|nepali|norwegian|persian|polish|portuguese|punjabi|romanian|russian|serbian|slovak|slovenian|somali|spanish|swahili|swedish|tagalog|tamil|telugu|thai|turkish|ukrainian|urdu|vietnamese|welsh|wolof|yoruba|zulu';

export const nationalities =
  'african|albanian|algerian|american|angolan|argentinian|armenian|australian|austrian|bangladeshi|belgian|bolivian|brazilian|british|bulgarian|cameroonian|canadian|cape verdean|chilean|chinese|colombian|croatian|cuban|cypriot|czech|danish|dutch|ecuadorian|egyptian|english|estonian|ethiopian|filipino|finnish|french|georgian|german|ghanaian|greek|guatemalan|hungarian|icelandic|indian|indonesian|iranian|iraqi|irish|israeli|italian|jamaican|japanese|jordanian|kenyan|korean|latvian|lebanese|libyan|lithuanian|luxembourgish|malaysian|maltese|mexican|moroccan|mozambican|nepali|nigerian|norwegian|pakistani|palestinian|peruvian|polish|portuguese|romanian|russian|scottish|senegalese|serbian|singaporean|slovak|slovenian|somali|south african|spanish|swedish|swiss|syrian|taiwanese|thai|tunisian|turkish|ugandan|ukrainian|uruguayan|venezuelan|vietnamese|welsh|zimbabwean';

export const occupations =
  'accountant|actor|actress|actuary|anaesthetist|analyst|architect|artist|astronomer|attorney|auditor|author|baker|banker|barber|barista|bartender|biologist|bookkeeper|builder|bus driver|butcher|cardiologist|carer|caretaker|carpenter|cellist|chef|chemist|civil servant|cleaner|coach|composer|conductor|consultant|contractor|cook|copywriter|courier|cyclist|dancer|data scientist|dentist|dermatologist|designer|detective|developer|dietitian|director|diver|doctor|driver|drummer|economist|editor|electrician|engineer|entrepreneur|estate agent|farmer|film director|filmmaker|firefighter|fisherman|florist|gardener|geologist|graphic designer|gp|hairdresser|historian|illustrator|interpreter|investor|janitor|jeweller|journalist|judge|lawyer|lecturer|librarian|locksmith|manager|mathematician|mechanic|midwife|model maker|musician|nanny|neurologist|notary|novelist|nurse|nutritionist|optician|painter|paralegal|paramedic|pastor|pediatrician|pharmacist|philosopher|photographer|physician|physicist|physiotherapist|pianist|pilot|plumber|poet|police officer|policeman|policewoman|politician|postdoc|potter|priest|producer|product manager|professor|programmer|project manager|psychiatrist|psychologist|psychotherapist|radiologist|real estate agent|realtor|receptionist|recruiter|researcher|roofer|sailor|salesperson|salesman|saleswoman|scientist|sculptor|secretary|shepherd|singer|social worker|soldier|solicitor|sommelier|statistician|stonemason|student|surgeon|surveyor|tailor|taxi driver|teacher|therapist|tour guide|trader|trainer|translator|truck driver|tutor|vet|veterinarian|violinist|waiter|waitress|web developer|welder|writer|yoga instructor|zoologist';

export const conditions =
  "adhd|anaemia|anemia|anxiety|arthritis|asthma|autism|bipolar disorder|chronic pain|coeliac disease|celiac disease|crohn's disease|crohn's|copd|depression|(?:type (?:1|2|one|two) )?diabetes|dyslexia|eczema|endometriosis|epilepsy|fibromyalgia|glaucoma|gout|hay fever|high blood pressure|hypertension|hypothyroidism|hyperthyroidism|ibs|insomnia|lupus|(?:chronic )?migraines?|ms|multiple sclerosis|osteoporosis|parkinson's|psoriasis|rosacea|sciatica|scoliosis|sleep apn(?:o)?ea|tinnitus|vertigo|(?:a )?heart (?:condition|murmur)|(?:a )?pacemaker|(?:a )?thyroid (?:condition|disorder)|a bad (?:back|knee|hip)|back problems|high cholesterol|low blood pressure";

/** Of these one has one at a time; a new one takes the place of the old. */
export const singleDiets =
  'vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore|carnivore|fruitarian|ovo-vegetarian|lacto-vegetarian';
/** These go together with others. */
export const otherDiets =
  'halal|kosher|gluten[- ]free|dairy[- ]free|lactose[- ]free|sugar[- ]free|low[- ]carb|low[- ]sodium|low[- ]salt|low[- ]fodmap|keto|ketogenic|paleo|mediterranean|plant[- ]based|raw food|diabetic';

const months =
  'january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec';
const weekdays = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday';
export const monthWords = months;

/** A time to come, as it is said from today. */
export const futureTimes = [
  'tomorrow(?: (?:morning|afternoon|evening|night))?',
  'tonight',
  'the day after tomorrow',
  `next (?:week|weekend|month|year|spring|summer|autumn|fall|winter|${weekdays}|${months})`,
  `this (?:weekend|evening|afternoon|coming week|summer|winter|${weekdays})`,
  `(?:on |this |coming |from )(?:${weekdays})(?: (?:morning|afternoon|evening|night))?`,
  `(?:on |in )(?:the )?(?:\\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:${months})(?: \\d{1,2}(?:st|nd|rd|th)?)?(?:,? \\d{4})?`,
  'in (?:a|one|two|three|four|five|six|\\d{1,2}) (?:days?|weeks?|months?)',
  'later (?:this|next) (?:week|month|year)',
].join('|');

/** How often. */
export const frequencies = [
  `(?:every|each) (?:single )?(?:other )?(?:day|morning|afternoon|evening|night|week|weekend|weekday|month|year|summer|winter|${weekdays})`,
  `on (?:${weekdays})s(?:(?:,| and|, and) (?:${weekdays})s)*`,
  'on (?:weekends|weekdays)',
  '(?:once|twice|(?:two|three|four|five|six|several|\\d{1,2}) times) (?:a|per) (?:day|week|month|year)',
  'daily|weekly',
].join('|');

export const habitVerbs =
  'attend|bake|bike|bring|call|clean|commute|cook|cycle|do|drink|eat|exercise|fast|get up|go|have|jog|journal|listen|meditate|meet|order|pay|play|practi[cs]e|pray|read|run|shop|ski|sleep|swim|take|teach|train|travel|visit|volunteer|wake up|walk|watch|water|work|work out|write';

/** Verbs that instruct a butler. */
export const instructionVerbs =
  'accept|add|address|alert|bill|group|mirror|drop|correct|exclude|limit|cut|leave out|say|spell out|answer|arrange|ask|avoid|block|book|bring|buy|call|cancel|charge|check|choose|clean|close|compare|confirm|contact|cook|copy|count|deliver|display|disturb|draft|email|end|feed|fill|format|give|greet|heat|include|interrupt|invite|keep|leave|let|list|lock|log|make|mark|measure|mention|message|move|notify|offer|open|order|pack|pick|plan|play|prefer|prepare|print|propose|put|quote|read|recommend|record|remind|reply|report|reschedule|reserve|respond|ring|round|save|schedule|send|serve|set|share|show|sign|skip|sort|speak|spell|start|stop|store|suggest|switch|tell|text|translate|turn|use|wait|wake|wash|water|write';
