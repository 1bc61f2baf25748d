import type { Config } from '../../config/schema.ts';
import type { DropStage } from './ranked.ts';
import {
  blockStart,
  renderBlock,
  sectionNames,
  sectionStart,
  unknownStart,
  type SectionName,
} from '../context/sections.ts';
import type { Tokenizer } from '../context/tokenizers.ts';

export interface Line {
  /** May be written when it is asked for: of hundreds that are ranked, not all are tried. */
  readonly text: string;
  /** Characters that it has at most, known without writing it. */
  longest: number;
  /** Has a part of the room for facts to itself. */
  isReserved: boolean;
  /** Its cluster has its share already: it waits for what the others leave. */
  isCrowded: boolean;
  /** Beyond the reserved part it waits as well, since it is not about the prompt. */
  isAside: boolean;
}

export interface Fitted<L extends Line> {
  text: string;
  tokensUsed: number;
  shown: Record<SectionName, { line: L; tokens: number }[]>;
  dropped: { line: L; stage: DropStage; reason: string }[];
}

type Shares = Config['memory']['retrieval']['context'];

/** Share of a section that its reserved lines have to themselves. */
const reservedShare = 0.4;

/**
 * Fills a block with lines that come best first, never beyond the budget:
 * 1. Of the room that the title leaves, each section has its share, out of which its heading is paid. The reserved lines
 *    of a section come before the others, within their own part of it; those of crowded clusters wait.
 * 2. What is then left of the whole goes to the facts, then to the rules, then to the episodes.
 * Without any line it says that nothing relevant is known, unless something is that does not fit.
 * A line that does not fit is skipped and the next one is tried: so the lowest-ranked ones are the first to go.
 */
export function fitBudget<L extends Line>(
  lines: Readonly<Record<SectionName, readonly L[]>>,
  budget: number,
  shares: Shares,
  tokenizer: Tokenizer,
  isKnown: boolean,
): Fitted<L> {
  const room = Math.max(0, budget - tokenizer.count(isKnown ? blockStart : unknownStart));
  const sections = sectionNames.map((name) => new Section(name, lines[name], tokenizer, room));
  const shareOf = { facts: shares.factsShare, rules: shares.rulesShare, episodes: shares.episodesShare };
  for (const section of sections) {
    const quota = Math.floor(room * shareOf[section.name]);
    section.fill(Math.floor(quota * reservedShare), ({ line }) => line.isReserved);
    section.fill(quota, ({ line }) => !waits(line));
  }
  let left = room - total(sections);
  for (const section of sections) {
    const before = section.used;
    section.fill(before + left, ({ line }) => !waits(line));
    section.fill(before + left, () => true);
    left -= section.used - before;
  }
  const { text, tokensUsed } = shrinkToBudget(sections, budget, tokenizer, isKnown);
  return {
    text,
    tokensUsed,
    shown: byName(sections, (section) => section.shown().map(({ line, tokens }) => ({ line, tokens: tokens ?? 0 }))),
    dropped: sections.flatMap((section) => section.dropped(room, total(sections))),
  };
}

function waits({ isCrowded, isAside }: Line): boolean {
  return isCrowded || isAside;
}

interface Entry<L extends Line> {
  line: L;
  /** Null until it is counted, and when it is longer than the whole room. */
  tokens: number | null;
  state: 'open' | 'shown' | 'too_long';
}

class Section<L extends Line> {
  readonly name: SectionName;
  readonly #entries: Entry<L>[];
  readonly #tokenizer: Tokenizer;
  readonly #headingTokens: number;
  readonly #room: number;
  /** Tokens of its lines, and of its heading as soon as there is one. */
  used = 0;

  constructor(name: SectionName, lines: readonly L[], tokenizer: Tokenizer, room: number) {
    this.name = name;
    this.#tokenizer = tokenizer;
    this.#headingTokens = tokenizer.count(sectionStart(name));
    this.#room = room;
    this.#entries = lines.map((line) => ({ line, tokens: null, state: 'open' }));
  }

  shown(): Entry<L>[] {
    return this.#entries.filter(({ state }) => state === 'shown');
  }

  /** Shows what fits until `allowance` is used, in all, by the section. */
  fill(allowance: number, isMeant: (entry: Entry<L>) => boolean): void {
    for (const entry of this.#entries) {
      const left = allowance - this.#next();
      if (left < leastLineTokens) return;
      if (entry.state !== 'open' || !isMeant(entry)) continue;
      const tokens = this.#count(entry);
      if (tokens === null || tokens > left) continue;
      this.used = this.#next() + tokens;
      entry.state = 'shown';
    }
  }

  /** Takes the lowest-ranked line away again. */
  dropLast(): void {
    const last = this.shown().at(-1);
    if (last === undefined) return;
    last.state = 'open';
    this.used -= last.tokens ?? 0;
    if (this.shown().length === 0) this.used = 0;
  }

  dropped(room: number, usedByAll: number): Fitted<L>['dropped'] {
    const left = room - usedByAll;
    const own = room - this.#next();
    return this.#entries
      .filter(({ state }) => state !== 'shown')
      .map((entry) => {
        const tokens = this.#couldBeTooLong(entry) ? this.#count(entry) : (entry.tokens ?? leastLineTokens);
        if (tokens === null) return { line: entry.line, stage: 'too_long', reason: this.#whyTooLong(entry) };
        const taken = entry.line.isCrowded ? 'cluster' : 'quota';
        const stage = tokens <= own ? taken : 'budget';
        return { line: entry.line, stage, reason: `${left} tokens were left, and it does not fit into them` };
      });
  }

  #next(): number {
    return this.used === 0 ? this.#headingTokens : this.used;
  }

  #count(entry: Entry<L>): number | null {
    if (entry.tokens !== null || entry.state === 'too_long') return entry.tokens;
    const { text } = entry.line;
    const most = this.#room - this.#headingTokens;
    entry.tokens = hasEndlessRun(text) || most <= 0 ? null : this.#tokenizer.countWithin(`${text}\n`, most);
    if (entry.tokens === null) entry.state = 'too_long';
    return entry.tokens;
  }

  /** No tokenizer makes more tokens than bytes: a short line need not be counted, nor written, to know. */
  #couldBeTooLong({ line, tokens }: Entry<L>): boolean {
    const isLong = (length: number): boolean => length * 3 + 1 > this.#room - this.#headingTokens;
    if (tokens !== null || (!isLong(line.longest) && line.longest <= longestRun)) return false;
    return isLong(line.text.length) || hasEndlessRun(line.text);
  }

  #whyTooLong({ line }: Entry<L>): string {
    return hasEndlessRun(line.text)
      ? `more than ${longestRun} characters without a blank, digit or change of kind, which takes too long to count`
      : `longer than the ${Math.max(0, this.#room - this.#headingTokens)} tokens that it could have alone`;
  }
}

/** A line has a dash, a word and an annotation: less room than this holds none. */
const leastLineTokens = 4;

/**
 * The time to count a run of letters, or of signs, grows with the square of its length: 20,000 of them, in one memory,
 * would stop the server for seconds. No text that someone wrote has a run of this length.
 */
const longestRun = 1000;

function hasEndlessRun(text: string): boolean {
  if (text.length <= longestRun) return false;
  const runs = text.match(/[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+/gu) ?? [];
  return runs.some(({ length }) => length > longestRun);
}

/**
 * The parts together count no less than the whole, for the tokenizers that we know. Should one split more across lines
 * than within them, the budget holds all the same.
 */
function shrinkToBudget<L extends Line>(
  sections: Section<L>[],
  budget: number,
  tokenizer: Tokenizer,
  isKnown: boolean,
): Pick<Fitted<L>, 'text' | 'tokensUsed'> {
  for (;;) {
    const text = renderBlock(
      byName(sections, (section) => section.shown().map(({ line }) => line.text)),
      isKnown,
    );
    const tokensUsed = tokenizer.count(text);
    if (text === '' || tokensUsed <= budget) return { text, tokensUsed };
    const last = sections.findLast((section) => section.used > 0);
    if (last === undefined) return { text: '', tokensUsed: 0 };
    last.dropLast();
  }
}

function total<L extends Line>(sections: readonly Section<L>[]): number {
  return sections.reduce((sum, { used }) => sum + used, 0);
}

function byName<L extends Line, T>(
  sections: readonly Section<L>[],
  value: (section: Section<L>) => T,
): Record<SectionName, T> {
  const entries = sections.map((section): [SectionName, T] => [section.name, value(section)]);
  return Object.fromEntries(entries) as Record<SectionName, T>;
}
