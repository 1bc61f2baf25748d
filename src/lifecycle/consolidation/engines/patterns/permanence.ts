import type { Permanence } from '../../../../memory/confidence.ts';

/**
 * The first list that has a word of the sentence decides how long it is likely to hold. A date is no sign: what is booked for
 * a day in three months must be known until then.
 */
const lists: readonly (readonly [Permanence, RegExp])[] = [
  [
    'permanent',
    /\b(?:born|birthday|died|allergic|allergy|native|grew up|mother tongue|coeliac|celiac|intoleran\w+|diabet\w+|left-handed|lefty|blood type|widow\w*|daughter|son|brother|sister|mother|father|grand\w+)\b/i,
  ],
  [
    'ephemeral',
    /\b(?:today|tonight|this (?:morning|week|afternoon)|right now|at the moment|chickenpox|has a cold|flu|fever|exhausted|tired|hungry)\b/i,
  ],
  [
    'volatile',
    /\b(?:this (?:month|summer|winter|year)|temporar\w*|for now|in the meantime|for the time being|waiting|currently|reading|crutches|recovering|expecting|logged|was \d)\b/i,
  ],
  [
    'stable',
    /\b(?:lives?|works?|job|teaches|runs|owns?|married|engaged|wife|husband|partner|home|house|flat|company|school|speaks?|plays?|takes? .*\bmg|doctor|dentist|bank\w*|car|dog|cat|retired|called|name)\b/i,
  ],
];

export function permanenceOf(content: string): Permanence {
  return lists.find(([, words]) => words.test(content))?.[0] ?? 'standard';
}
