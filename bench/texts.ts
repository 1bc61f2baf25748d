/** Texts of the length that memories have; the lists have no common divisor, so that they come in every combination. */
const people = [
  'Anna',
  'Ben',
  'Carla',
  'Deniz',
  'Emil',
  'Fatima',
  'Greta',
  'Hugo',
  'Ilse',
  'Jamal',
  'Kira',
  'Leo',
  'Mina',
];
const acts = [
  'ordered',
  'repaired',
  'borrowed',
  'cancelled',
  'painted',
  'sold',
  'cleaned',
  'measured',
  'wrapped',
  'lost',
  'packed',
];
const things = [
  'the garden chairs',
  'a winter coat',
  'the kitchen scales',
  'two theatre tickets',
  'the bicycle pump',
  'a box of lemons',
  'the piano stool',
  'an old radio',
  'the blue suitcase',
  'a pair of skates',
  'the coffee mill',
  'a map of Lisbon',
  'the smoke alarm',
  'a birthday cake',
  'the dentist bill',
  'a telescope',
  'the porch light',
];
const reasons = [
  'because of the rain',
  'before the holidays',
  'after a long shift',
  'for the neighbours',
  'on short notice',
  'with a discount',
  'against all advice',
  'as a surprise',
  'for the school play',
  'to save money',
  'out of boredom',
  'at the market',
  'in the evening',
  'while the others slept',
  'on the way home',
  'without a receipt',
  'with a friend',
  'for the second time',
  'as agreed',
];

/** Vectors are made from those of so many sentences. */
export const patternCount = 200;

export const sentenceParts = [people, acts, things, reasons] as const;

export const topicSyllables = [
  'ba',
  'do',
  'fe',
  'gu',
  'ki',
  'la',
  'mo',
  'ne',
  'pu',
  'ri',
  'sa',
  'to',
  've',
  'wu',
  'zi',
  'cha',
  'sho',
];

/** A vocabulary: the word at place n is as frequent as 1 / n, as words of a language are. */
export const nouns: readonly string[] = topicSyllables.flatMap((third) =>
  topicSyllables.flatMap((second) => topicSyllables.map((first) => `${first}${second}${third}`)),
);

function pick(list: readonly string[], number: number): string {
  return list[number % list.length] ?? '';
}

/** Small numbers, the same in every run. */
function share(number: number): number {
  return (Math.imul(number + 1, 2_654_435_761) >>> 0) / 2 ** 32;
}

/** From the whole vocabulary, each word as often as it stands in the texts. */
function noun(number: number): string {
  return nouns[Math.floor(nouns.length ** share(number)) - 1] ?? '';
}

export function sentence(number: number): string {
  const said = sentenceParts.map((list) => pick(list, number)).join(' ');
  return `${said}, about ${noun(number)} and ${noun(number + 1_000_003)}; noted under entry${number % 5003}`;
}

/** Not the same twice in thousands, so that no embedding is kept from before. */
export function question(number: number): string {
  const [person, thing] = [pick(people, number * 5 + 2), pick(things, number * 3 + 1)];
  return `What has ${person} done with ${thing} ${pick(reasons, number)}, and what was it about ${noun(number * 7 + 5)}?`;
}
