import type { FactToStore, Question, QuestionKind } from './memories.ts';

const attributes = [
  'profession',
  'home',
  'birthday',
  'family',
  'drink',
  'dish',
  'avoids',
  'allergy',
  'hobby',
  'pet',
  'vehicle',
] as const;
type Attribute = (typeof attributes)[number];

interface Person {
  name: string;
  /** In the order of `attributes`. */
  contents: readonly string[];
}

const people: Person[] = [
  {
    name: 'Marta Lindqvist',
    contents: [
      'works as a harbour pilot',
      'lives above the bakery in Tallow Street',
      'was born on 14 May 1979',
      'is the older sister of Jonas Lindqvist',
      'takes her espresso with a slice of orange',
      'is happiest with mushroom risotto',
      'does not eat fish, although she works at sea',
      'gets a rash from penicillin',
      'restores broken wall clocks',
      'keeps a deaf greyhound called Biscuit',
      'drives a rusty green pickup',
    ],
  },
  {
    name: 'Jonas Lindqvist',
    contents: [
      'teaches geometry at the evening school',
      'rents a houseboat on the north canal',
      'was born on 2 December 1984',
      'is married to Ines Okafor',
      'drinks barley tea all day long',
      'asks for grilled mackerel whenever he may choose',
      'never touches cheese of any sort',
      'cannot have cashews or pistachios',
      'sings bass in the railway choir',
      'feeds two stray cats on the quay',
      'gets around on a folding bicycle',
    ],
  },
  {
    name: 'Ines Okafor',
    contents: [
      'repairs violins in her own workshop',
      'has moved into the old pharmacy at Pump Square',
      'was born on 30 August 1986',
      'is the daughter of Samuel Okafor',
      'wants her cocoa bitter and without sugar',
      'could live on pepper soup',
      'will not have any pork on her plate',
      'reacts badly to bee stings',
      'climbs indoors every Thursday',
      'owns a tortoise that is older than she is',
      'shares an electric scooter with a neighbour',
    ],
  },
  {
    name: 'Samuel Okafor',
    contents: [
      'retired from the weather service',
      'lives in the red lighthouse cottage at Gull Point',
      'was born on 9 January 1951',
      'is a widower; his wife was called Ruth',
      'has one glass of stout on Sundays',
      'likes lamb stew better than anything',
      'is not allowed grapefruit because of his pills',
      'sneezes for days when the birches bloom',
      'keeps a diary of clouds',
      'breeds homing pigeons',
      'gave up his driving licence',
    ],
  },
  {
    name: 'Greta Vandenberg',
    contents: [
      'defends tenants in court',
      'bought a flat on the ninth floor of Mill Tower',
      'was born on 21 March 1990',
      'is engaged to Tomasz Wilk',
      'orders ginger beer instead of wine',
      'swears by sweet potato curry',
      'leaves every dish with coriander untouched',
      'swells up after eating shellfish',
      'runs marathons in the hills',
      'is minding a parrot that swears',
      'leases a small yellow hatchback',
    ],
  },
  {
    name: 'Tomasz Wilk',
    contents: [
      'bakes bread through the night',
      'stays in the rooms behind the ovens in Mill Lane',
      'was born on 17 July 1988',
      'has twin brothers named Pawel and Adam',
      'pours himself buttermilk before bed',
      'dreams of beetroot dumplings',
      'has cut out alcohol entirely',
      'has to avoid sesame',
      'folds paper animals to calm down',
      'adopted a one-eyed terrier',
      'delivers with a blue van',
    ],
  },
  {
    name: 'Priya Raman',
    contents: [
      'writes software for hospital beds',
      'lodges with the Vandenbergs on the ninth floor',
      'was born on 5 November 1995',
      'is an aunt of little Dev',
      'needs cardamom in her coffee',
      'celebrates with lemon rice',
      'eats neither meat nor eggs',
      'carries an inhaler against asthma',
      'photographs night moths',
      'looks after an aquarium of seahorses',
      'hires a car only at weekends',
    ],
  },
  {
    name: 'Dev Raman',
    contents: [
      'goes to the second form of Canal School',
      'spends weekdays at his grandmother in Orchard Row',
      'was born on 28 February 2018',
      'calls Priya Raman his favourite aunt',
      'gets warm milk with honey at night',
      'would eat pancakes three times a day',
      'pushes peas to the edge of the plate',
      'must not be given ibuprofen',
      'collects bus tickets in a tin',
      'wishes for a hedgehog and has a woodlouse farm',
      'rides a scooter with a bell',
    ],
  },
  {
    name: 'Olga Brandt',
    contents: [
      'conducts the city brass band',
      'spends winters in a caravan by the southern marsh',
      'was born on 11 October 1963',
      'has a son abroad whose name is Felix',
      'insists on nettle tea from her garden',
      'has a weakness for duck with plums',
      'sends back anything with garlic',
      'breaks out in hives from wool',
      'solves chess problems by post',
      'talks to a raven that visits the sill',
      'tows everything with a tractor',
    ],
  },
  {
    name: 'Felix Brandt',
    contents: [
      'surveys glaciers for a university',
      'has a room at the research station in Spitsbergen',
      'was born on 24 June 1992',
      'is the only child of Olga Brandt',
      'melts snow for his black tea',
      'misses rye bread with herring',
      'does without sugar since his diagnosis',
      'is a type one diabetic',
      'carves spoons from driftwood',
      'works with a team of eight huskies',
      'repairs his own snowmobile',
    ],
  },
  {
    name: 'Lucia Ferrante',
    contents: [
      'runs the night ward of the children’s clinic',
      'lives in the tall house opposite the cinema',
      'was born on 19 April 1972',
      'divorced Henrik Sand years ago',
      'prefers sparkling water with mint',
      'would cross town for fried artichokes',
      'cannot stand raisins in anything',
      'faints at the smell of lilies',
      'sews costumes for the puppet theatre',
      'promised her ward a rabbit',
      'parks a motorbike in the yard',
    ],
  },
  {
    name: 'Henrik Sand',
    contents: [
      'appraises antique carpets',
      'sleeps in the loft of his auction rooms',
      'was born on 7 September 1969',
      'shares custody of his daughter Alma',
      'keeps a bottle of aquavit for guests only',
      'praises cabbage rolls above all',
      'refuses mayonnaise',
      'has hay fever and a dust allergy',
      'plays the accordion in taverns',
      'inherited a goldfish from a client',
      'arrives in a vintage sidecar',
    ],
  },
];

function keyOf(name: string, attribute: Attribute): string {
  return `${name}/${attribute}`;
}

export function factsOfPeople(): FactToStore[] {
  return people.flatMap(({ name, contents }) =>
    attributes.map((predicate, place): FactToStore => {
      return { type: 'fact', key: keyOf(name, predicate), subject: name, predicate, content: contents[place] ?? '' };
    }),
  );
}

interface Pattern {
  kind: QuestionKind;
  attribute: Attribute;
  ask: (firstName: string, content: string) => string;
  /** Asked about every second person, from this one on. */
  from: 0 | 1;
}

const patterns: Pattern[] = [
  { kind: 'exact words', attribute: 'profession', from: 0, ask: (_, content) => `Who ${content}?` },
  { kind: 'exact words', attribute: 'vehicle', from: 1, ask: (_, content) => `Who ${content}?` },
  { kind: 'paraphrase', attribute: 'profession', from: 1, ask: (name) => `What does ${name} do for a living?` },
  { kind: 'paraphrase', attribute: 'hobby', from: 0, ask: (name) => `How does ${name} like to pass the time?` },
  { kind: 'paraphrase', attribute: 'pet', from: 1, ask: (name) => `Which animal does ${name} take care of?` },
  { kind: 'negation', attribute: 'avoids', from: 0, ask: (name) => `What should never be served to ${name}?` },
  { kind: 'negation', attribute: 'allergy', from: 1, ask: (name) => `What is ${name} unable to tolerate?` },
  { kind: 'identity', attribute: 'birthday', from: 0, ask: (name) => `How old is ${name}?` },
  { kind: 'identity', attribute: 'home', from: 1, ask: (name) => `What is the address of ${name}?` },
  { kind: 'identity', attribute: 'family', from: 0, ask: (name) => `Who are the relatives of ${name}?` },
  { kind: 'preference', attribute: 'drink', from: 1, ask: (name) => `What does ${name} prefer in a cup or a glass?` },
  { kind: 'preference', attribute: 'dish', from: 0, ask: (name) => `What is ${name}'s favourite meal?` },
];

/** Asked without the name: only what it means leads to the fact. */
const descriptions: [QuestionKind, string, string, Attribute][] = [
  ['paraphrase', 'Who steers ships safely into port?', 'Marta Lindqvist', 'profession'],
  ['paraphrase', 'Who teaches mathematics to adults?', 'Jonas Lindqvist', 'profession'],
  ['paraphrase', 'Who fixes stringed instruments?', 'Ines Okafor', 'profession'],
  ['paraphrase', 'Who used to make forecasts of rain and storms?', 'Samuel Okafor', 'profession'],
  ['paraphrase', 'Which of them is a lawyer?', 'Greta Vandenberg', 'profession'],
  ['paraphrase', 'Who practises origami?', 'Tomasz Wilk', 'hobby'],
  ['paraphrase', 'Who takes pictures of insects in the dark?', 'Priya Raman', 'hobby'],
  ['paraphrase', 'Whose dogs pull a sled?', 'Felix Brandt', 'pet'],
  ['paraphrase', 'Who is a nurse for kids?', 'Lucia Ferrante', 'profession'],
  ['paraphrase', 'Who values old rugs?', 'Henrik Sand', 'profession'],
  ['negation', 'Who is a vegetarian?', 'Priya Raman', 'avoids'],
  ['negation', 'Who does not drink beer or wine any more?', 'Tomasz Wilk', 'avoids'],
  ['negation', 'Who no longer drives a car?', 'Samuel Okafor', 'vehicle'],
  ['negation', 'Who does not eat fish?', 'Marta Lindqvist', 'avoids'],
  ['negation', 'For whom must we cook without dairy such as cheese?', 'Jonas Lindqvist', 'avoids'],
  ['negation', 'Who may not be given antibiotics like penicillin?', 'Marta Lindqvist', 'allergy'],
];

export function questionsAboutPeople(): Question[] {
  const asked = patterns.flatMap(({ kind, attribute, ask, from }) =>
    people
      .filter((_, place) => place % 2 === from)
      .map(({ name, contents }): Question => {
        const text = ask(name.split(' ')[0] ?? name, contents[attributes.indexOf(attribute)] ?? '');
        return { kind, text, answers: [keyOf(name, attribute)] };
      }),
  );
  const described = descriptions.map(([kind, text, name, attribute]): Question => {
    return { kind, text, answers: [keyOf(name, attribute)] };
  });
  return [...asked, ...described];
}
