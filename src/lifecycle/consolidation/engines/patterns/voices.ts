import type { Sentence } from './own-speech.ts';

/** Signs that "I" is a butler who tells of somebody: what it did, and who told it. */
const butlerSigns: readonly RegExp[] = [
  /\b(?:the user|user|user's)\b(?!:)/gi,
  /\b(?:told|asked|reminded|showed|sent|gave|thanked|corrected|promised|informed|had|wants|wanted|let|made|called|tells|asks|confided|dictated|taught) me\b/gi,
  /\b(?!He|She|They|You)\p{Lu}\p{L}+ and I\b|\bI (?:was (?:asked|told)|am (?:not )?to)\b|\b(?:for|with|to|by) me to\b|\bme to\b/gu,
  /\bI (?:have )?(?:read|looked|checked|compared|drafted|translated|suggested|reminded|promised|agreed|answered|noted|calculated|fetched|erased|recommended|advised|offered|explained|replied|helped|told|asked|informed|summari[sz]ed|entered|recorded|logged|proposed|booked|scheduled|reserved|ordered|added|updated|cancelled|corrected|apologi[sz]ed|listed|printed|wrote|saved)\b/g,
  /\bmy (?:mistake|slip|error|mishearing|entry|wording|suggestion|note|draft|list|answer|reminder|calendar)\b/gi,
  /^(?:he|she|his|her)\b|\b(?:he|she) (?:said|told|asked|says|wants|explained|added|insisted|thought|wondered|laughed|would like)\b/gim,
  /\bwe (?:talked|chatted|spent|went|looked|settled|managed|discussed|agreed|tried|compared|practised|played|did)\b/gi,
  /\b\p{Lu}\p{L}+ (?:mentioned|explained|said|told|asked|wants|wondered|insisted|decided|announced|confided|reported|laughed|joked)\b/gu,
];
/** Signs that "I" is the user, who speaks of themselves or to the butler. */
const userSigns: readonly RegExp[] = [
  /\b(?:my|our) (?:\p{L}+ )?(?:wife|husband|partner|mother|father|mum|mom|dad|sister|brother|son|daughter|kids?|children|doctor|boss|car|flat|house|job|bike|dog|cat|garden|birthday|phone|knee|back|name|friend|cousin|aunt|uncle|feet|head|sponsor|pension|surname)\b/giu,
  /\bI (?:am|have(?! \p{L}+ed\b)|live|work|take|like|love|hate|prefer|need|want|cannot|do not|will|would|play|drink|eat|run|own|drive|moved|got(?! (?:it|that|this) wrong)|used|see|earn|pay|speak|start|feel)\b/giu,
  /\b(?:our|ours|mine)\b|\bwe (?:are|have|live|will|do|lost|got|moved|bought|sold|need|want)\b/gi,
  /\bmy (?!mistake|slip|error|mishearing|entry|wording|suggestion|note|draft|list|answer|reminder|calendar)/gi,
  /\b(?:you|your)\b|\bplease\b/gi,
];

function count(text: string, signs: readonly RegExp[]): number {
  return signs.reduce((sum, sign) => sum + (text.match(sign)?.length ?? 0), 0);
}

/** Whether the writer of the text beside labelled lines is a butler that tells of the user, and "I" not the user. */
export function isButlerTelling(sentences: readonly Sentence[]): boolean {
  const own = sentences.filter(({ voice }) => voice === 'narrator').map(({ text }) => text);
  const text = own.join('\n');
  if (/\b(?:the user|user|user's)\b(?!:)/i.test(text)) return true;
  const [byButler, byUser] = [count(text, butlerSigns), count(text, userSigns)];
  if (byUser === 0 && /\b(?:he|she|his|her)\b/i.test(text)) return true;
  return byButler > 0 && byButler > byUser;
}
