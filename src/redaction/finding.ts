/** The kinds that can be redacted, one finder each. Marks, events and messages use these words. */
export const findingKinds = ['secret', 'iban', 'card', 'national_id', 'email', 'phone'] as const;
export type FindingKind = (typeof findingKinds)[number];

/** A stretch of text that was found. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** The value without its formatting: the same for two ways to write it. */
  readonly canonical: string;
}

/** A stretch of text to redact. */
export interface Finding extends Span {
  readonly kind: FindingKind;
}

/** Finds all of one kind. Its work must be linear in the length of the text, however hostile that is. */
export type Finder = (text: string) => Span[];
