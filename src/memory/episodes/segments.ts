import type { RedactedText, Redactor } from '../../redaction/redactor.ts';
import { invalidInput } from '../../shared/errors.ts';
import { maskHidden } from '../forgetting/hidden-spans.ts';
import { contentLimit, normaliseContent } from '../text.ts';
import { checkOneOf } from '../values.ts';

/** Speakers of the parts of an episode. Text of tools and documents is data: nothing is learned from it. */
export const segmentSpeakers = ['user', 'assistant', 'tool', 'document'] as const;

export type SegmentSpeaker = (typeof segmentSpeakers)[number];

/** A type and no interface, because only types are JSON. */
export type Segment<Text extends string = string> = { speaker: SegmentSpeaker; text: Text };

/** As a caller gives it. */
export interface SegmentInput {
  speaker: string;
  text: string;
}

export const segmentLimit = 200;

/** The stored form of segments: redacted, and together no longer than a content may be. */
export function normaliseSegments(
  redactor: Redactor,
  given: readonly SegmentInput[] | null | undefined,
): Segment<RedactedText>[] {
  const segments = given ?? [];
  if (segments.length > segmentLimit) throw invalidInput('segments', `at most ${segmentLimit}`, segments.length);
  let room = contentLimit;
  return segments.flatMap(({ speaker, text }, place) => {
    const field = `segments[${place}]`;
    const checked = checkOneOf(`${field}.speaker`, speaker, segmentSpeakers);
    const kept = redactor.cut(`${field}.text`, normaliseContent(redactor, `${field}.text`, text), room);
    room -= kept.length;
    return kept === '' ? [] : [{ speaker: checked, text: kept }];
  });
}

/** The segments of a row. A state from before segments has none. */
export function readSegments(row: { segments?: unknown }): Segment[] {
  return Array.isArray(row.segments) ? (row.segments as Segment[]) : [];
}

export function isForeign({ speaker }: Pick<Segment, 'speaker'>): boolean {
  return speaker === 'tool' || speaker === 'document';
}

/** What may be learned from: the content without what was forgotten and the parts of tools and documents, and what else was said. */
export function readOwnText(episode: { content: string; segments?: unknown; hiddenSpans?: unknown }): string {
  const said = maskHidden(episode, leftOut);
  const segments = readSegments(said);
  const own = segments.filter(isForeign).reduce((text, one) => text.replaceAll(one.text, leftOut), said.content);
  const others = segments.filter((one) => !isForeign(one) && !own.includes(one.text));
  return [own, ...others.map(({ speaker, text }) => `${labels[speaker]}: ${text}`)].join('\n');
}

/** What stands between the segments: text that the caller attributed to nobody. */
export function textBesideSegments(episode: { content: string; segments?: unknown }): string {
  const rest = readSegments(episode).reduce((text, one) => text.replaceAll(one.text, ''), episode.content);
  return rest.replace(/^[ \t]*(?:[-*•] )?[\p{L} ]{1,30}:[ \t]*$/gmu, '').trim();
}

/** What stands in the place of text that is not to be learned from. */
export const leftOut = '[…]';
const labels: Record<SegmentSpeaker, string> = {
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
  document: 'Document',
};
