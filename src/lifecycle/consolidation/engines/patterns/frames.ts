import { capitalise } from './values.ts';

/** A statement without its frame: the saying verb and its speaker are taken off. */
export interface Framed {
  readonly text: string;
  /** The speaker as the sentence names them; null where it names nobody. */
  readonly speaker: string | null;
  /** The rest is in the speaker's own words: "User said: I like tea". */
  readonly isDirect: boolean;
  /** The speaker asks for something, and states nothing. */
  readonly isRequest: boolean;
  /** The speaker wants it remembered. */
  readonly isToRemember: boolean;
}

const name = String.raw`\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2}`;
const speaker = String.raw`(?<speaker>(?:[Tt]he )?[Uu]ser(?:, ${name},)?|[Ss]he|[Hh]e|[Tt]hey|${name})`;
const adverbs =
  '(?: (?:also|has|had|just|again|explicitly|clearly|briefly|casually|later|then|even|once|finally|quickly|often))*';
const tells =
  '(?:said|says|mentioned|mentions|told (?:me|us|the butler|the assistant)(?! off)|tells me|stated|states|noted|notes|shared|confirmed|confirms|explained|explains|reported|reports|added|adds|clarified|wrote|revealed|let slip|let me know|let us know|announced|indicated|pointed out|reminded (?:me|us|the butler)|informed (?:me|us)|disclosed|corrected me|admitted|recalled|remembered|introduced (?:himself|herself|themselves)|specified|updated me)';
const asides =
  '(?:,? (?:in the same breath|by the way|quite by the way|to me|today|yesterday|again|earlier|in passing|along the way|over the phone|in the chat))*';
const report = new RegExp(
  `^(?:(?:today|yesterday|earlier|in passing|later|then|along the way),? )?${speaker}${adverbs} (?<verb>${tells})${asides}(?: (?:the|a|his|her|their) [\\p{L}' -]{2,40}(?=:))?(?<colon>:|,)?(?<that> that)?,? (?<rest>.+)$`,
  'u',
);
const lateReport = new RegExp(
  `^${speaker} (?:[^,.:;"]{2,80}?),? (?:and|but)${adverbs} ${tells}${asides}(?<that> that)? (?<rest>.+)$`,
  'u',
);
const trailing = new RegExp(
  `,? (?:as )?${speaker.replace('?<speaker>', '?:')} (?:said|insisted|added|explained|mentioned|noted|says)$`,
  'u',
);
/** "Mentioned that the boiler is serviced": who did is not said. */
const bareReport = new RegExp(
  `^(?:(?:also|then) )?${tells.replace('said|says|', '').replace('wrote|', '')}${asides} that (?<rest>.+)$`,
  'iu',
);
/** "She told me about her brother Sipho, who lives in …": that is said of him. */
const tellsAbout = new RegExp(
  `^${speaker}${adverbs} (?:told (?:me|us|the butler|the assistant)|talked|spoke|chatted|mentioned)(?: (?:about|of))? (?<whom>[^,.;:]{3,60}), who (?<rest>(?!m\\b|se\\b)\\p{Ll}+ (?:(?! who(?:m|se)?\\b)[^:;])+)$`,
  'u',
);
/** "I noted that Sipho is a medic": the butler wrote it down to be remembered. */
const butlersNote =
  /^I (?:have )?(?:noted|noted down|wrote down|written down|recorded|made a note|learned) that (?<rest>.+)$/u;

const askToRemember = new RegExp(
  `^${speaker}${adverbs} (?:asked|told|wants|wanted) (?:me|us|the butler|the assistant) to (?:remember|note|keep in mind)(?: that)? (?<rest>.+)$`,
  'u',
);
const remember =
  /^(?:(?:please|and|also|can you|just) )*(?:remember|note|keep in mind|do not forget|be aware|make a note|take note)(?: that|:|,)? (?!to\b)(?<rest>.+)$/i;
const request = new RegExp(
  `^${speaker}${adverbs} (?:(?:was|were|is) (?:asking|wondering)|asks?|asked|requested|requests|wondered|wonders|inquired|enquired|ordered|(?:wants?|wanted|would like) to (?:know|see|hear|find out|check|look)|thanked|came back to|forwarded|pasted|printed|copied|picked)\\b`,
  'u',
);
const openings =
  /^(?:actually|btw|by the way|also|well|oh|hi|hello|hey|hi there|okay|ok|yes|yeah|no|nope|so|and|but|now|right|great|good|perfect|correction|update|quick update|sorry|fyi|just so you know|for your information|for the record|for reference|in fact|to be clear|important|notes?|noted|reminder|as i said|wait|thanks|thx|thank you|good morning|good evening|first|second|third|anyway|luckily|(?:session|meeting|user|call|quick|weekly|daily)? ?(?:notes?|summary|profile|info|update|review)|facts?|preferences?|health|diet|travel|work|home|finance|family|what is certain|worth noting(?: for next time)?|along the way|in passing|moved house|new|personal|background|correction from (?:the user|her|him)|rule from (?:the user|her|him)|put right|wrong date from me|(?:i (?:have )?)?changed my mind)(?:\s*[,:!.]+| [–-]| (?=i\b|my\b|the user\b|user\b|that\b|so\b|yes\b|please\b)) ?(?:and |but |so |that (?=(?:i|he|she|they|we|it|the|user)\b))?/i;

/** "The old Bosch stays, he decided, as long as it washes". */
const between = new RegExp(
  `,? (?:${speaker.replace('?<speaker>', '?:')}) (?:said|says|insisted|added|explained|mentioned|noted|decided|stressed|told (?:me|us)|recalled|confirmed)(?: (?:again|firmly|today))?,(?= )`,
  'gu',
);
/** An instruction is asked for: it is one however it is said. */
const standingRequest =
  /\b(?:asked|asks|requested|requests|wants?|wanted|ordered) (?:that|not to|to be)\b|\b(?:from (?:now|here) on|henceforth|always|never|in (?:the )?future|every|each|any ?more|no longer|next time|whenever|until further notice|by default|instead of)\b/i;

/** What the butler did about it: "…, so the butler changed the pasta". */
const consequence =
  /,? (?:and )?so (?:the )?(?:butler|assistant) (?!(?:is|was) (?:not )?to\b|(?:must|should|shall|will|may)\b)[^;:]+$/;

/** "mentioned being vegan" says that the speaker is. After "said", a gerund may be the subject of the rest. */
function finishGerund({ verb = '', speaker: whom = '', rest = '' }: Record<string, string | undefined>): string {
  const gerund = /^(?:being|having)\b/.exec(rest)?.[0];
  if (gerund === undefined || !/^(?:mention|admit|disclos|confirm|report)/.test(verb)) return rest;
  return `${whom} ${gerund === 'being' ? 'is' : 'has'}${rest.slice(gerund.length)}`;
}

/** "said good night" says nothing, "said she is tired" does. */
function saysSomething({ that, colon, rest = '' }: Record<string, string | undefined>): boolean {
  return (
    that !== undefined ||
    colon !== undefined ||
    /^(?:\p{Lu}|\d)|^(?:he|she|they|it|i|we|the|an?|his|her|their|my|our|there|this|these|no|being|having)\b/u.test(
      rest,
    )
  );
}

/** Takes away greetings, headings and "User mentioned that". */
export function unframe(text: string): Framed {
  let rest = text.replace(consequence, '');
  let isToRemember = false;
  for (let step = 0; step < 4; step += 1) {
    const opened = rest.replace(openings, '');
    const remembered = remember.exec(opened)?.groups?.['rest'];
    isToRemember ||= remembered !== undefined;
    const next = remembered ?? opened;
    if (next === rest || next === '') break;
    rest = next;
  }
  const asked = askToRemember.exec(rest)?.groups;
  if (asked !== undefined) return frame(asked['rest'] ?? '', { speaker: asked['speaker'] ?? null, isToRemember: true });
  const written = butlersNote.exec(rest)?.groups?.['rest'];
  if (written !== undefined) return frame(written, { isToRemember: true });
  const about = tellsAbout.exec(rest)?.groups;
  if (about !== undefined)
    return frame(`${about['whom'] ?? ''} ${about['rest'] ?? ''}`, { speaker: about['speaker'] ?? null, isToRemember });
  const found = report.exec(rest)?.groups ?? (request.test(rest) ? lateReport.exec(rest)?.groups : undefined);
  if (found !== undefined && saysSomething(found)) {
    const isDirect = /^"?(?:I|my|we)\b/i.test(found['rest'] ?? '') && found['colon'] !== undefined;
    return frame(finishGerund(found).replace(/^"|"$/g, ''), {
      speaker: found['speaker'] ?? null,
      isDirect,
      isToRemember,
    });
  }
  const bare = bareReport.exec(rest)?.groups?.['rest'];
  if (bare !== undefined) return frame(bare, { isToRemember });
  rest = rest.replace(between, ',');
  const asker = standingRequest.test(rest) ? undefined : request.exec(rest)?.groups?.['speaker'];
  return frame(rest.replace(trailing, ''), { speaker: asker ?? null, isRequest: asker !== undefined, isToRemember });
}

/** "said that she moved and that Ayanda teaches": both are said. */
const secondThat = / and that (?=\p{Lu}|(?:he|she|they|it|there|the|an?|his|her|their|my|our|I|we)\b)/gu;

function frame(said: string, values: Partial<Framed>): Framed {
  return {
    text: said.replace(secondThat, ' and '),
    speaker: null,
    isDirect: false,
    isRequest: false,
    isToRemember: false,
    ...values,
  };
}

const plea =
  /^(?:(?:and|also|so|please|ok|okay|hi|hello|hey|by the way),? )*(?:can|could|would|will) you (?:please |kindly )?(?<deed>.+?)\?+$/i;

/** "Could you write dates day first?" is an order, politely. */
export function withoutPlea(text: string): string {
  const deed = plea.exec(text)?.groups?.['deed'];
  return deed === undefined ? text : capitalise(deed);
}
