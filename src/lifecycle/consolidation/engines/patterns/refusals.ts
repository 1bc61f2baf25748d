import { pointsBack } from './clauses.ts';
import type { Token } from './tags.ts';

const hedges =
  /\b(?:if (?:only|i were|he ever|she ever|i ever)|maybe|perhaps|possibly|might|wonder(?:s|ed|ing)?|suppose|imagine|pretend|not sure|unsure|no idea|i guess|i think|i believe|thinks? (?:of|about)|thinking (?:of|about)|considering|toying|wish(?:es)?|dream(?:s|ing)? of|lol|haha|hehe|jk|kidding|jok(?:e|es|ed|ing)|sarcas\w*|as if|hypothetical\w*|role ?play|apparently|supposedly|allegedly|or something|should i|one day|used to|had (?:been|worked|lived|had)|was on \d+|what if|nothing decided|undecided|will think|would (?:buy|hire|be|have|go|sell|run|do|make|prefer|love|work|stay|say)|could (?:be|have|see|eat|live|do|go)|let us say|for example|wonders? (?:if|whether)|know (?:if|whether)|has a (?:question|feeling|plan)|yeah right|had i)\b|[😂🤣😉🙄😜]|;\)|\?/iu;
const permission = /\bmay\b(?! be (?:left|omitted|skipped))/;
const opinions =
  /^(?!(?:user|the user)(?!'s))[^,]*?\b(?:says?|said|thinks?|thought|claims?|claimed|believes?|believed|reckons?|considers?|predicts?|called it|suggests?|recommends?|swears that|argues?)\b/iu;
const advisers =
  /\b(?:doctor|gp|physio\w*|therapist|cardiologist|dentist|vet|midwife|consultant|surgeon|nurse|specialist|dietitian|school|teacher|landlord|neurologist|dermatologist|paediatrician|optician|psychiatrist)\b/i;
const session =
  /^(?:the )?(?:butler|assistant|summary|recap|overview|session|conversation|chat|search|tool|output|draft|build|script|page|article|podcast|reminder|timer|list|file|form|answer|result|image|video|second|first|rest|cause|sound|range|evidence|weather|forecast|cheapest|laughter|end)\b|\b(?:the butler|this session|the session|no (?:other |further )?(?:requests|tasks|comments|corrections|follow-up)|nothing (?:else|urgent|actionable)|end of session)\b/i;

const asking =
  /^(?:user|she|he|\p{Lu}\p{L}+) (?:also |then |later )?(?:asked|asks|requested|requests|wondered|thanked|corrected|rejected|picked|printed|closed|copied|forwarded|agreed|laughed|said no|said yes|wanted to know|found (?:it|that)|replied|answered|talked|chatted|spoke|was (?:annoyed|amused|happy|pleased|relieved|surprised))\b/iu;
/** A whole sentence that begins so is not meant. */
const unreal =
  /\b(?:pretend|imagine|suppose|if (?:i|we|he|she|user|the user) (?:were|was|had|ever|could)|what if|in theory|hypothetical\w*|for a novel|in the (?:novel|film|game|story))\b/i;

export function isUnreal(sentence: string): boolean {
  return unreal.test(sentence);
}

/** Whether a statement is a guess, a joke, a question, somebody's opinion or talk about the session. */
export function isRefused(said: string, kept: string, tokens: readonly Token[]): boolean {
  if (hedges.test(said) || permission.test(said) || session.test(kept) || asking.test(kept) || /^if\b/i.test(kept))
    return true;
  if (tokens.some(({ lower }) => /^(?:you|your|yours|yourself)$/.test(lower))) return true;
  if (/"[^"]*\s[^"]*\s[^"]*"|"[^"]*$|[`{}<>|\\]|https?:|www\.|\S@\S/.test(said)) return true;
  if (/^(?:it|this|that|these|those|there|which|him|them|he|she|they|what|who|how|why|one|to)\b/i.test(kept))
    return true;
  if (pointsBack(tokens) && !/^it$/.test(tokens[0]?.lower ?? '') && !advisers.test(kept)) return true;
  if (/\b(?:is|are|was|has|the|a|an|of|to|my|and|or|not)$/i.test(kept)) return true;
  if (opinions.test(kept.replace(/\b(?:the )?user (?:says?|said)\b/gi, '')) && !advisers.test(kept)) return true;
  if (/^(?!.*\buser\b)[\p{L} ]+ \p{L}+ed$/iu.test(kept) && !/\b(?:is|are|was|were|has|had|have|be|been)\b/.test(kept))
    return true;
  return kept.split(' ').length < 3 || !/\p{L}{2}/u.test(kept);
}
