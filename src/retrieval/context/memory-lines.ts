import { handleOf } from '../../shared/handles.ts';
import { inertText } from '../../shared/untrusted-text.ts';
import { effectiveConfidence } from '../../memory/confidence.ts';
import { isFresh } from '../../memory/episodes/fresh.ts';
import { isUpcoming } from '../../memory/facts/valid-time.ts';
import { readsAsNote } from '../../memory/facts/note-key.ts';
import type { AsStored } from '../../db/stored-fact.ts';
import { findWords } from '../../shared/words.ts';
import type { Episode, Fact, Rule } from '../../generated/prisma/client.ts';
import { askedByUser, notConsolidated } from './sections.ts';

type Common = 'id' | 'version' | 'content' | 'importance' | 'createdAt' | 'lastReferencedAt';
type Decaying = 'scope' | 'permanence' | 'confidence' | 'decayRate' | 'lastConfirmedAt';
type OfFact = 'subject' | 'predicate' | 'kind' | 'observedAt' | 'validFrom' | 'validTo' | 'sealedContent' | 'dataKeyId';
type FactToShow = Pick<Fact, Common | Decaying | OfFact>;
type RuleToShow = Pick<Rule, Common | Decaying | 'maturity' | 'askedByUserAt'>;
type EpisodeToShow = Pick<Episode, Common | 'observedAt' | 'consolidationStatus'>;

/** As much of a memory as its line is written from. */
export type MemoryToShow =
  | { type: 'fact'; row: FactToShow }
  | { type: 'rule'; row: RuleToShow }
  | { type: 'episode'; row: EpisodeToShow };

/** The same as it is stored: a fact may be sealed. */
export type MemoryToOpen =
  | { type: 'fact'; row: AsStored<FactToShow> }
  | { type: 'rule'; row: RuleToShow }
  | { type: 'episode'; row: EpisodeToShow };

/** Another fact of which a review asks whether the two say the same. */
export interface Conflict {
  /** Whether the fact of the line was stored later than the other. */
  isNewer: boolean;
  /** Of the other. */
  handle: string;
}

/** One memory as one line of a context, as it is at a moment. Replaying a receipt depends on every byte of it. */
export function lineOf(memory: MemoryToShow, at: Date, conflicts: readonly Conflict[] = []): string {
  switch (memory.type) {
    case 'fact':
      return factLine(memory.row, at, conflicts);
    case 'rule':
      return ruleLine(memory.row, at);
    case 'episode':
      return episodeLine(memory.row, at);
  }
}

/** Characters that the line has at most: of each, a backslash may come before it, and annotations are short. */
export function longestLineOf({ type, row }: MemoryToShow, conflicts: readonly Conflict[] = []): number {
  const names = type === 'fact' ? row.subject.length + row.predicate.length : type === 'rule' ? row.scope.length : 0;
  return 2 * (row.content.length + names) + 50 * conflicts.length + 200;
}

function factLine(fact: FactToShow, at: Date, conflicts: readonly Conflict[]): string {
  const notes = [
    fact.permanence,
    isUpcoming(fact, at) ? `from ${formatBeginning(fact.validFrom as Date)}` : ageOfFact(fact, at),
    ...endNote(fact, at),
    ...confidenceNote(fact, at),
    ...conflicts.map(({ isNewer, handle }) => `${isNewer ? 'newer' : 'older'}, may conflict with ${handle}`),
    handleOf(fact.id),
  ];
  return `- ${atLineStart(inertText(sentenceOf(fact)))} [${notes.join(', ')}]`;
}

/** A content that names its subject and predicate says it all: "User's name is John" needs no "user, name:". */
function sentenceOf({ subject, predicate, content }: FactToShow): string {
  if (readsAsNote({ subject, predicate })) return content;
  const names = findWords(`${subject} ${predicate}`, lettersAndNumbers);
  const said = findWords(content, lettersAndNumbers);
  const isComplete = names.length > 0 && names.every((word) => said.includes(word));
  return isComplete ? content : `${subject}, ${predicate.replaceAll('_', ' ')}: ${content}`;
}

/** Without marks, as lines have been since the first receipts were kept. */
const lettersAndNumbers = /[\p{L}\p{N}]+/gu;

function ageOfFact({ kind, observedAt, lastConfirmedAt, createdAt }: FactToShow, at: Date): string {
  if (kind === 'event') return `observed ${age(observedAt ?? createdAt, at)}`;
  return lastConfirmedAt === null ? `stored ${age(createdAt, at)}` : `confirmed ${age(lastConfirmedAt, at)}`;
}

function endNote({ validTo }: FactToShow, at: Date): string[] {
  // Receipts from before the column have lines without it.
  if (validTo == null) return [];
  return [validTo <= at ? `ended ${age(validTo, at)}` : `until ${formatBeginning(validTo)}`];
}

/** The day in UTC; the month or the year where it is the first day of one: "from 2029", "until March 2027". */
function formatBeginning(moment: Date): string {
  if (moment.getUTCDate() !== 1) return wholeDate.format(moment);
  return moment.getUTCMonth() === 0 ? `${moment.getUTCFullYear()}` : monthAndYear.format(moment);
}

/** What did harm so often that it was turned into its opposite stands out from what to do. */
function ruleLine(rule: RuleToShow, at: Date): string {
  const notes = [
    ...askedNote(rule, at),
    rule.maturity,
    inertText(rule.scope),
    ...confidenceNote(rule, at),
    handleOf(rule.id),
  ];
  const content = inertText(rule.content);
  const text = rule.maturity === 'anti_pattern' ? `WARNING: ${content}` : atLineStart(content);
  return `- ${text} [${notes.join(', ')}]`;
}

/** Tells orders of the user from advice. A warning says the opposite of what the user asked for. */
function askedNote({ maturity, askedByUserAt }: RuleToShow, at: Date): string[] {
  // Receipts from before the column have lines without it.
  if (askedByUserAt == null || maturity === 'anti_pattern') return [];
  return [`${askedByUser}, ${formatDay(askedByUserAt, at)}`];
}

/** The day in UTC: "23 September", with the year where it is another than that of `at`. */
function formatDay(moment: Date, at: Date): string {
  const isThisYear = moment.getUTCFullYear() === at.getUTCFullYear();
  return (isThisYear ? dayOfYear : wholeDate).format(moment);
}

const dayAndMonth = { day: 'numeric', month: 'long', timeZone: 'UTC' } as const;
const dayOfYear = new Intl.DateTimeFormat('en-GB', dayAndMonth);
const monthAndYear = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const wholeDate = new Intl.DateTimeFormat('en-GB', { ...dayAndMonth, year: 'numeric' });

function episodeLine(episode: EpisodeToShow, at: Date): string {
  const { id, content, observedAt, createdAt } = episode;
  const notes = [age(observedAt ?? createdAt, at), ...(isFresh(episode) ? [notConsolidated] : []), handleOf(id)];
  return `- [${notes.join(', ')}] ${inertText(content)}`;
}

function confidenceNote(memory: FactToShow | RuleToShow, at: Date): string[] {
  const confidence = Number(effectiveConfidence(memory, at).toFixed(2));
  return confidence < 1 ? [`confidence ${confidence}`] : [];
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Rounded down; what another clock puts in the future is now. */
export function age(moment: Date, at: Date): string {
  const elapsed = at.getTime() - moment.getTime();
  if (elapsed < minute) return 'just now';
  if (elapsed < hour) return `${Math.floor(elapsed / minute)}m ago`;
  if (elapsed < day) return `${Math.floor(elapsed / hour)}h ago`;
  const days = Math.floor(elapsed / day);
  if (days < 90) return `${days}d ago`;
  return days < 730 ? `${Math.floor(days / 30)}mo ago` : `${Math.floor(days / 365)}y ago`;
}

/** At the start of an item a marker would open a heading, a quotation, a rule or a list. */
function atLineStart(text: string): string {
  return text.replace(/^(\d*)([#>*+=~_.)-])/, String.raw`$1\$2`);
}
