/** The kind of answer that a question expects, by English patterns. */
export interface ExpectedAnswer {
  /** Somebody. */
  who: boolean;
  /** A number or an amount. */
  amount: boolean;
  /** A name. */
  name: boolean;
  /** How things are, and not what one should do. */
  fact: boolean;
  /** What one should or may do, or it is an order. */
  advice: boolean;
}

const who = /\b(?:who|whom|whose)\b/i;
const amount = /\bhow (?:much|many|old|long|far|big|tall|high|often)\b|\bwhat (?:number|size|price)\b/i;
const name = /\b(?:who|names?|called)\b/i;
const fact =
  /^\W*(?:what|which|who|whose|whom|when|where|why|since|until|on which|in which|for whom|for how|how (?:old|many|much|long|often|far|tall|big))\b/i;
const advice =
  /\b(?:should|may|must|can|could|shall|ought) (?:i|we|you|he|she|they|it|one|a|the|my|\p{Lu}\p{Ll}+)|\bhow (?:do|should|would) (?:i|you|we)|\bdo i (?:need|have)\b|\bwhat (?:do|should) i|^(?:write|book|order|plan|send|make|draft|prepare|suggest|set|cook|find|arrange|remind|buy|pack)\b/iu;

export function readExpectedAnswer(text: string): ExpectedAnswer {
  const isAdvice = advice.test(text);
  return {
    who: who.test(text),
    amount: amount.test(text),
    name: name.test(text),
    fact: !isAdvice && fact.test(text),
    advice: isAdvice,
  };
}
