/** English verbs and pronouns, as far as sentences about the user need them. */

const irregular: Readonly<Record<string, string>> = {
  am: 'is',
  are: 'is',
  have: 'has',
  do: 'does',
  go: 'goes',
  were: 'was',
};
const unchanged =
  /^(?:is|was|has|does|will|would|can|cannot|could|may|might|must|shall|should|did|had|got|went|became|came|grew|took|left|met|made|began|bought|sold|never|no|just|recently)$/;

export function thirdPerson(verb: string): string {
  const lower = verb.toLowerCase();
  if (irregular[lower] !== undefined) return irregular[lower];
  if (unchanged.test(lower) || /(?:[^e]ed|[^aeious]s|es)$/.test(lower)) return verb;
  if (/(?:s|x|z|ch|sh)$/.test(lower)) return `${verb}es`;
  return /[^aeiou]y$/.test(lower) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

/** Near enough for the verbs of instructions. */
export function gerundOf(verb: string): string {
  if (/(?:[^e]|[^aeiou]e)$/.test(verb) && /[^aeiou][aeiou][bdgmnprt]$/.test(verb) && verb.length < 5) {
    return `${verb}${verb.at(-1)}ing`;
  }
  return /[^e]e$/.test(verb) ? `${verb.slice(0, -1)}ing` : `${verb}ing`;
}

const contractions: readonly [RegExp, string][] = [
  [/\b(I)'m\b/gi, '$1 am'],
  [/\b(I|we|you|they)'ve\b/gi, '$1 have'],
  [/\b(I|we|he|she|they|you)'d(?= (?:better|been|had|already)\b)/gi, '$1 had'],
  [/\b(I|we|he|she|they|you)'d\b/gi, '$1 would'],
  [/\b(we|you|they)'re\b/gi, '$1 are'],
  [/\b(I|he|she|it|we|you|they)'ll\b/gi, '$1 will'],
  [
    /\b(he|she|it|who|\p{Lu}\p{L}+)'s (?=(?:got|gone|been|had|done|taken|given|come|become|begun|bought|sold|left|made|put|found|lost|won|broken|gotten)\b)/giu,
    '$1 has ',
  ],
  [
    /\b(he|she|who)'s (?=(?!retired|married|called|named|allowed|supposed|interested|scared|tired|bored|divorced|engaged|allowed|worried|pleased|used|related|based)\p{L}{2,}ed\b)/giu,
    '$1 has ',
  ],
  [/\b(he|she|name|birthday)'s\b/gi, '$1 is'],
  [
    /(\p{L}{2,})'s (?=(?:from|an?|the|not|in|on|at|with|coming|going|fine|been|got|here|just|always|never|closed|open|out|off|back|called|named)\b)/giu,
    '$1 is ',
  ],
  [/\bit's\b/gi, 'it is'],
  [/\bcan'?t\b|\bcan not\b/gi, 'cannot'],
  [/\bwon'?t\b/gi, 'will not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should)n'?t\b/gi, '$1 not'],
];

export function expandContractions(text: string): string {
  return contractions.reduce((expanded, [short, long]) => expanded.replace(short, long), text);
}

/** What the user says of themselves, said of the user: the pronouns of a rule. */
export function instructionAboutUser(text: string): string {
  return text
    .replace(/\bI am\b|\bI'm\b/gi, 'the user is')
    .replace(/\bI (?!am\b)([\p{L}]+)/giu, (_, verb: string) => `the user ${thirdPerson(verb)}`)
    .replace(/\bmyself\b/gi, 'the user')
    .replace(/\bmy\b/gi, "the user's")
    .replace(/\b(?:me|I)\b/g, 'the user');
}
