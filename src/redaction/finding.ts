/** What is looked for, each by a file of its own. The word is that of marks, events and messages. */
export const findingKinds = ['secret', 'iban', 'card', 'national_id', 'email', 'phone'] as const;
export type FindingKind = (typeof findingKinds)[number];

/** A stretch of a text that must not be kept. */
export interface Finding {
  readonly kind: FindingKind;
  readonly start: number;
  readonly end: number;
  /** The same for two ways of writing the same thing. */
  readonly canonical: string;
}

/** Counts the characters that were looked at, so that a test can tell how the work grows with the text. */
export class Meter {
  steps = 0;
}

/** Pure, and linear in the length of the text whatever is in it. */
export type Finder = (text: string, meter: Meter) => Finding[];
