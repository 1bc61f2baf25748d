import type { Question, RuleToStore } from './memories.ts';

/** With a question where one is asked about it; the others are there to be confused with those. */
const rules: [content: string, question?: string][] = [
  [
    'Before booking a flight, compare the train if the ride takes less than six hours',
    'How should I choose between rail and plane?',
  ],
  ['Always book aisle seats for Samuel because of his knee', 'Which seat should I reserve for Samuel?'],
  ['Check passports for six months of validity before any trip abroad', 'What should I verify in travel documents?'],
  ['Choose hotels that have a quiet room to the courtyard'],
  ['Send the itinerary to everyone on the evening before departure', 'When should I share the travel plan?'],
  [
    'Never book a connection with less than fifty minutes to change trains',
    'How much time should I leave between two trains?',
  ],
  ['Ask Greta before cancelling a reservation that costs a fee', 'What to do before a paid reservation is dropped?'],
  ['Pack the medicine bag last so that it lies on top'],
  ['Soak dried beans overnight and throw the water away', 'How do I prepare pulses?'],
  ['Label every box in the freezer with its date', 'How should I mark frozen food?'],
  ['Serve children first, then guests, then the household', 'In which order should I bring the plates?'],
  ['Use the copper pan only for jam'],
  ['Sharpen knives on the first day of the month', 'How often should I sharpen the knives?'],
  ['Taste soup before adding salt, since the stock is salted already'],
  ['Plan one meal without meat on each weekday', 'What is the policy on vegetarian meals?'],
  ['Order groceries by noon to get them the same evening', 'What is the best way to get food delivered today?'],
  ['Write down blood pressure in the morning before coffee', 'When should I measure blood pressure?'],
  ['Call the clinic, not the doctor, when a prescription has run out', 'How do I get a new prescription?'],
  ['Offer a glass of water with every pill'],
  ['Do not schedule two medical appointments on one day', 'Should I put several doctor visits together?'],
  ['Cancel training when the resting pulse is ten beats above normal', 'When should we skip a workout?'],
  ['Remind Felix to check his glucose before long walks'],
  ['Keep vaccination cards in the blue folder', 'What is the procedure for filing records of shots?'],
  ['Use sunscreen for everyone above eight hundred metres'],
  ['Pay invoices three days before they are due, never on the day', 'How early should I settle a bill?'],
  ['Two people must approve a transfer of more than a thousand', 'What are the rules for large payments?'],
  ['Scan receipts on the day of the purchase', 'What should I do with a sales slip?'],
  ['Move what is left at the end of the month into savings', 'What to do with money that was not spent?'],
  ['Review insurance contracts each October'],
  [
    'Decline offers made by telephone without listening to the price',
    'How should I react to cold calls from salespeople?',
  ],
  ['Keep tax letters for ten years', 'How long must we store documents about taxes?'],
  ['Round tips up to the next ten'],
  ['Water the orchids with rain water once a week', 'How do I look after the orchids?'],
  ['Air every room for five minutes in the morning, also in winter', 'How should I ventilate the house?'],
  ['Turn the heating down when nobody is home for more than a day', 'What to do about heating during an absence?'],
  ['Let nobody in who cannot name the person they visit', 'How should I treat strangers at the door?'],
  ['Test the smoke alarms on the last Sunday of a quarter', 'When should smoke detectors be tried out?'],
  ['Close the shutters on the west side after three in summer'],
  ['Polish silver with chalk, not with paste', 'How to clean the cutlery?'],
  ['Put the ladder back on its hooks after use'],
  ['Reset the router by pulling the plug for thirty seconds', 'How can I repair a broken wireless network?'],
  ['Back up the photographs before updating the computer', 'Steps before a software upgrade?'],
  [
    'Answer letters within two days, even if only to say when the answer will come',
    'How quickly should I reply to mail?',
  ],
  ['Write to officials formally and to friends by first name'],
  ['Never share the calendar of the children with anyone outside', 'Should I tell others where the kids will be?'],
  ['Ask for a quote from three craftsmen before ordering work', 'What is the procedure for hiring a tradesman?'],
  ['Say no to meetings before nine', 'Should I accept an early morning appointment?'],
  ['Wake no one for a parcel'],
];

export function rulesOfHousehold(): RuleToStore[] {
  return rules.map(([content], place): RuleToStore => ({ type: 'rule', key: `rule/${place}`, content }));
}

export function questionsAboutRules(): Question[] {
  return rules.flatMap(([, text], place): Question[] => {
    return text === undefined ? [] : [{ kind: 'procedure', text, answers: [`rule/${place}`] }];
  });
}
