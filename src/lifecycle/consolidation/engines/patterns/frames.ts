import type { Voice } from './own-speech.ts';
import { expandContractions } from './grammar.ts';

/** A sentence without its introduction, and the person that its pronouns mean. */
export interface Framed {
  readonly text: string;
  /** "I" and "my" are the user's. */
  readonly isFirstPerson: boolean;
  /** "he", "she" and "they" are the user: the sentence says that the user said it. */
  readonly isReported: boolean;
  /** "the user" is named by its writer. */
  readonly isThirdPerson: boolean;
  readonly isToRemember: boolean;
}

const tells =
  'said|says|mentioned|mentions|told me|told us|tells me|stated|states|noted|shared|shares|confirmed|confirms|explained|reported|reports|added|clarified|wrote|revealed|let me know|announced|indicated|pointed out|reminded me|informed me|disclosed|corrected me';
const adverbs = '(?: (?:also|has|just|again|explicitly|clearly|briefly|casually|later|then))*';
const report = new RegExp(
  `^(?:(?:today|yesterday|earlier|in passing|later|then),? )?(?:the )?user${adverbs} (?:${tells})(?: (?:to me|today|yesterday|again|earlier|in passing))*(?<colon>:|,)?(?: that)?,? (?<rest>.+)$`,
  'i',
);
const lateReport = new RegExp(`^(?:the )?user [^,.:;"]{2,80}?,? and (?:${tells})(?: that)? (?<rest>.+)$`, 'i');
const askToRemember =
  /^(?:the )?user (?:asked|told|wants) me to (?:remember|note|keep in mind)(?: that)? (?<rest>.+)$/i;
const remember =
  /^(?:(?:please|and|also|can you|just) )*(?:remember|note|keep in mind|don't forget|do not forget|be aware|make a note|take note)(?: that|:|,)? (?!to\b)(?<rest>.+)$/i;
const opening =
  /^(?:actually|btw|by the way|also|well|oh|hi|hello|hey|hi there|okay|ok|yes|no|nope|so|and|but|now|correction|update|sorry|fyi|just so you know|for your information|for the record|in fact|to be clear|important|note|notes|noted|reminder|as i said|wait|thanks|thank you|good morning|good evening|(?:session|meeting|user|call|quick) (?:notes?|summary|profile|info|update)|summary|fact|profile|preferences?|health|diet|travel|work|home|finance|family|(?:i (?:have )?)?changed my mind)(?:\s*[,:!.-]+| (?=i\b|my\b|the user\b|user\b|that\b)) ?(?:and |but |that )?/i;
const changedMind = /^(?:i (?:have )?)?changed my mind(?:,|:|;| -)? (?:and |because )?/i;

export function unframe(sentence: string, voice: Voice, isAgentTelling: boolean): Framed {
  let framed: Framed = {
    text: expandContractions(sentence),
    isFirstPerson: voice === 'user' || !isAgentTelling,
    isReported: false,
    isThirdPerson: voice === 'narrator',
    isToRemember: false,
  };
  for (let step = 0; step < frameLimit; step += 1) {
    const next = takeFrame(framed);
    if (next === framed) break;
    framed = next;
  }
  return framed;
}

/** Nobody puts more than this before what there is to say. */
const frameLimit = 6;

function takeFrame(framed: Framed): Framed {
  const { text } = framed;
  const opened = text.replace(opening, '').replace(changedMind, '');
  if (opened !== text) return { ...framed, text: opened };
  const remembered = remember.exec(text)?.groups?.['rest'];
  if (remembered !== undefined) return { ...framed, text: remembered, isToRemember: true };
  return framed.isThirdPerson && !framed.isReported ? takeReport(framed) : framed;
}

function takeReport(framed: Framed): Framed {
  const asked = askToRemember.exec(framed.text)?.groups?.['rest'];
  if (asked !== undefined)
    return { ...framed, text: asked, isReported: true, isFirstPerson: false, isToRemember: true };
  const found = report.exec(framed.text) ?? lateReport.exec(framed.text);
  if (found === null) return framed;
  const { rest = '', colon } = found.groups ?? {};
  const quoted = /^"(?<inner>[^"]+)"?$/.exec(rest)?.groups?.['inner'];
  const isDirect = colon === ':' || quoted !== undefined;
  return { ...framed, text: quoted ?? rest, isFirstPerson: isDirect, isReported: !isDirect, isThirdPerson: !isDirect };
}
