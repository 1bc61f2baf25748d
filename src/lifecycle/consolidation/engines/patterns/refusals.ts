/**
 * A sign that a sentence may not be meant, or is not worth keeping. The judge weighs it; without a judge a doubt refuses.
 * `guess`: "maybe", a joke, a dream; `session`: talk about the session; `butler`: what a butler did in passing; `request`:
 * something is asked for, and nothing stated.
 */
export type Doubt = (typeof doubts)[number];

export const doubts = ['guess', 'session', 'butler', 'request'] as const;

const guess =
  /\b(?:maybe|perhaps|possibly|might|wonder(?:s|ed|ing)?|suppose|imagine|pretend|not sure|unsure|no idea|i guess|toying|dream(?:s|ing)? of|lol|haha|hehe|jk|kidding|joking|sarcas\w*|hypothetical\w*|role ?play|apparently|supposedly|allegedly|should i|what if|(?:she|he|user|we|they) may(?! not)|(?:could|can|has|have|had)(?:not| not) (?:yet )?decided?|if (?:i|we|he|she|user|the user) (?:were|was|had|ever|could)|nothing decided|undecided|in theory|for a novel|in the (?:novel|film|game|story)|yeah right)\b|[😂🤣😉🙄😜]|;\)|\?/iu;
const session =
  /\b(?:no (?:other |further )?(?:requests|tasks|comments|corrections|follow-up)|nothing (?:else|urgent|actionable|of note|to note|new|special)|end of (?:the )?session)\b/i;
/** What the user did with somebody's text. */
const handling =
  /^(?:user|the user|she|he) (?:then |also |later )?(?:replied|answered|forwarded|pasted|copied|printed)\b/i;
/** "Pretend you are a pirate and my name is Flint": nothing of it is true. */
const play = /^(?:let us )?(?:pretend|imagine|suppose|act as|role ?play)\b/i;
/** What a butler promised, knows or is to do may be of use. */
const ofButler =
  /^(?:the butler|the assistant)(?:'s)? (?!.*\b(?:must|should|shall|is to|has to|is not to|not to|never|always|promised|agreed|settled|knows?|will|learned|takes?|wakes?|collects?|from now on)\b)/i;

/** Finds what speaks against a statement: as it was said, and as it would be kept. */
export function findDoubts(said: string, kept: string, { isRequest }: { isRequest: boolean }): Doubt[] {
  const found: Readonly<Record<Doubt, boolean>> = {
    guess: guess.test(said),
    session: session.test(kept),
    butler: ofButler.test(kept),
    request: isRequest,
  };
  return doubts.filter((doubt) => found[doubt]);
}

/** Whether nothing can be kept of a statement: code, an address, a quotation, a single word, a game, what the user did with a text. */
export function isUnreadable(said: string, kept: string): boolean {
  if (/[`{}<>|\\]|https?:|www\./.test(said) || isQuotation(said) || handling.test(kept) || play.test(kept)) return true;
  return kept.split(' ').length < 2 || !/\p{L}{2}/u.test(kept);
}

/** Whether most of it is somebody's words, or it is not clear where those end. */
function isQuotation(said: string): boolean {
  const quoted = [...said.matchAll(/"([^"]*)"/g)].map(([, words = '']) => words.split(/\s+/).length);
  const count = quoted.reduce((sum, one) => sum + one, 0);
  if (/^'.*'[.!]?$/.test(said) || (said.match(/"/g) ?? []).length % 2 === 1) return true;
  return quoted.some((one) => one > 6) || count * 2 > said.split(/\s+/).length;
}
