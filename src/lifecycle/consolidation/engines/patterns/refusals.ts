/** Guesses, jokes and dreams. What hedges less is for the judge. */
const hedges =
  /\b(?:maybe|perhaps|possibly|might|wonder(?:s|ed|ing)?|suppose|imagine|pretend|not sure|unsure|no idea|i guess|toying|dream(?:s|ing)? of|lol|haha|hehe|jk|kidding|joking|sarcas\w*|hypothetical\w*|role ?play|apparently|supposedly|allegedly|should i|what if|nothing decided|undecided|wonders? (?:if|whether)|yeah right)\b|[😂🤣😉🙄😜]|;\)|\?/iu;
/** What the butler says of itself and of the session. */
const session =
  /\b(?:no (?:other |further )?(?:requests|tasks|comments|corrections|follow-up)|nothing (?:else|urgent|actionable|of note|to note|new|special)|end of (?:the )?session)\b/i;
/** What the user did with somebody's text. */
const handling =
  /^(?:user|the user|she|he) (?:then |also |later )?(?:replied|answered|forwarded|pasted|copied|printed)\b/i;
/** What a butler does in passing; what it promised, knows or is to do may be of use. */
const ofButler =
  /^(?:the butler|the assistant)(?:'s)? (?!.*\b(?:must|should|shall|is to|has to|is not to|not to|never|always|promised|agreed|settled|knows?|will|learned|takes?|wakes?|collects?|from now on)\b)/i;
/** A whole sentence that begins so is not meant. */
const unreal =
  /\b(?:pretend|imagine|suppose|if (?:i|we|he|she|user|the user) (?:were|was|had|ever|could)|what if|in theory|hypothetical\w*|for a novel|in the (?:novel|film|game|story))\b/i;

export function isUnreal(sentence: string): boolean {
  return unreal.test(sentence);
}

/** Whether a statement is a guess, a joke, a question, somebody's opinion or talk about the session. */
export function isRefused(said: string, kept: string): boolean {
  if (/[`{}<>|\\]|https?:|www\./.test(said) || isQuotation(said)) return true;
  if (hedges.test(said) || session.test(kept) || ofButler.test(kept) || handling.test(kept)) return true;
  return kept.split(' ').length < 2 || !/\p{L}{2}/u.test(kept);
}

/** Whether most of it is somebody's words, or it is not clear where those end. */
function isQuotation(said: string): boolean {
  const quoted = [...said.matchAll(/"([^"]*)"/g)].map(([, words = '']) => words.split(/\s+/).length);
  if (/^'.*'[.!]?$/.test(said)) return true;
  const count = quoted.reduce((sum, one) => sum + one, 0);
  return (
    (said.match(/"/g) ?? []).length % 2 === 1 || quoted.some((one) => one > 6) || count * 2 > said.split(/\s+/).length
  );
}
