/**
 * The text of an episode, and what is to be found in it:
 * - `predicate | permanence | part of the content` for a fact about the user,
 * - `subject | predicate | permanence | part of the content` for a fact about somebody else,
 * - `rule | part of the content` for a rule.
 * A predicate may end in `*`. A text with no labels holds nothing that is to be found.
 */
export type LabelledText = readonly [text: string, ...labels: string[]];

export interface CorpusPart {
  readonly statements: readonly LabelledText[];
  /** What looks like a statement and is none. */
  readonly decoys: readonly LabelledText[];
  /** What others wrote: pages, mails, tool outputs, injections. */
  readonly foreign: readonly LabelledText[];
}
