import { validate as isUuid } from 'uuid';
import type { Fact } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { embedAll, type EmbeddedText } from '../../memory/embed.ts';
import {
  decideSealing,
  embeddedText,
  normaliseFact,
  type FactValues,
  type StoreFactInput,
} from '../../memory/facts/fact-values.ts';
import { readOwnText } from '../../memory/episodes/segments.ts';
import { normaliseRule, type RuleValues } from '../../memory/rules/rules.ts';
import { openRows } from '../../encryption/sealing.ts';
import type { ForeignItem } from '../../memory/quarantine/quarantine.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { findQuote, joinSpans, type Span } from '../../memory/spans.ts';
import { globalScope } from '../../memory/values.ts';
import { isAskedByUser } from './asked-by-user.ts';
import type { ClaimedEpisode } from './claim.ts';
import { loadEchoes } from './echo-guard.ts';
import { loadOutdated } from './outdated-guard.ts';
import {
  checkEvidence,
  findReason,
  readEpisodeId,
  Refusal,
  type Evidence,
  type NewFact,
  type NewRule,
  type OutputItem,
  type ParsedOutput,
  type RefusedItem,
  type SaidByOthers,
  type UpdatedFact,
} from './output.ts';

export interface Grounds {
  place: number;
  /** Ids of the cited episodes. */
  evidence: string[];
  /** Where each of them says so. */
  spans: ReadonlyMap<string, readonly Span[]>;
}

export interface PossibleChange {
  /** Id of a fact, or the place of one of the same output. */
  fact: string | number;
  likelihood: number | undefined;
}

export interface PreparedFact extends Grounds {
  kind: 'new_facts' | 'updated_facts';
  /** The fact that it replaces, if it names one. */
  targetId: string | null;
  /** Facts that it may replace: a person decides. */
  mayChange: readonly PossibleChange[];
  given: StoreFactInput;
  values: FactValues;
  embedded: EmbeddedText;
}

export interface PreparedRule extends Grounds {
  kind: 'new_rules';
  /** The rule whose place it takes, if it names one. */
  supersedes: string | null;
  /** When it was last said. */
  saidAt: Date;
  values: RuleValues;
  embedded: EmbeddedText;
}

export interface PreparedReference extends Grounds {
  kind: 'confirmations' | 'links';
  target: { type: 'fact' | 'rule'; id: string };
  relation: 'supports' | 'contradicts';
  mayChange: readonly PossibleChange[];
}

/** Text of others, which is held back. */
export interface PreparedForeign extends Grounds {
  kind: 'said_by_others';
  item: ForeignItem;
}

export type PreparedItem = PreparedFact | PreparedRule | PreparedReference | PreparedForeign;

export interface Preparation {
  items: PreparedItem[];
  refused: RefusedItem[];
}

export interface PreparationInput {
  context: MemoryContext;
  butler: string;
  /** Those of the run that are still there. */
  episodes: ReadonlyMap<string, PreparationEpisode>;
}

export type PreparationEpisode = Omit<ClaimedEpisode, 'importance'>;

/**
 * Checks, normalises and embeds items before the transaction, because the model must not hold a connection. Refuses items
 * that are bad in themselves.
 */
export async function prepareItems(input: PreparationInput, parsed: ParsedOutput): Promise<Preparation> {
  const targets = await findTargets(input.context, parsed.items);
  const contents = new Map([...input.episodes].map(([id, episode]) => [id, readOwnText(episode)]));
  // Offsets hold in the text as it is stored.
  const texts = new Map([...input.episodes].map(([id, { content }]) => [id, content]));
  const guard = await loadEchoes(input.context, { butler: input.butler, episodes: chooseCited(parsed.items, input) });
  const outdated = await loadOutdated(input.context, input.butler, chooseCited(parsed.items, input));
  const refused: RefusedItem[] = [...parsed.refused];
  const drafts: Draft[] = [];
  for (const item of parsed.items) {
    try {
      const evidence = checkEvidence(item.value.evidence, item.kind === 'said_by_others' ? texts : contents);
      const news = item.kind === 'said_by_others' ? evidence : guard.requireNews(item.value.evidence, evidence);
      const draft = toDraft(input, item, news, targets);
      if ('given' in draft) outdated.requireCurrent(draft.values, draft.evidence);
      drafts.push({ ...draft, spans: findSpans(item.value.evidence, texts) });
    } catch (error) {
      const reason = findReason(error);
      if (reason === null) throw error;
      refused.push({ kind: item.kind, place: item.place, reason });
    }
  }
  const decided = await Promise.all(drafts.map((draft) => decideDraft(input.context, draft)));
  return { items: await embedDrafts(input.context, decided), refused };
}

/** Most episodes are cited by no item, and what was shown before them need not be loaded. */
function chooseCited(items: readonly OutputItem[], { episodes }: PreparationInput): PreparationInput['episodes'] {
  const cited = new Set(items.flatMap(({ value }) => value.evidence.map(readEpisodeId)));
  return new Map([...episodes].filter(([id]) => cited.has(id)));
}

/** Returns where episodes say what is quoted, by their ids. A quote that differs too much from the text has no place. */
function findSpans(cited: readonly Evidence[], contents: ReadonlyMap<string, string>): Map<string, Span[]> {
  const spans = new Map<string, Span[]>();
  for (const one of cited) {
    const id = readEpisodeId(one);
    spans.set(id, joinSpans([...(spans.get(id) ?? []), ...findQuote(contents.get(id) ?? '', one.quote)]));
  }
  return spans;
}

type Draft = Omit<PreparedFact, 'embedded'> | Omit<PreparedRule, 'embedded'> | PreparedReference | PreparedForeign;
type DraftWithoutSpans =
  | Omit<PreparedFact, 'embedded' | 'spans'>
  | Omit<PreparedRule, 'embedded' | 'spans'>
  | Omit<PreparedReference, 'spans'>
  | Omit<PreparedForeign, 'spans'>;

function toDraft(
  input: PreparationInput,
  item: OutputItem,
  evidence: string[],
  targets: ReadonlyMap<string, Fact>,
): DraftWithoutSpans {
  const { kind, place } = item;
  switch (kind) {
    case 'new_facts':
      return {
        kind,
        place,
        evidence,
        targetId: null,
        mayChange: readMayChange(item.value),
        ...newFact(input, item.value, evidence),
      };
    case 'updated_facts': {
      const target = targets.get(item.value.target_id.trim().toLowerCase());
      // The same answer as for an unknown id: a butler must not learn that a hidden fact exists.
      if (target === undefined || !isVisible(target.scope, input.butler)) throw new Refusal('target_id: no such fact');
      const updated = updatedFact(input, item.value, target, evidence);
      return { kind, place, evidence, targetId: target.id, mayChange: readMayChange(item.value), ...updated };
    }
    case 'new_rules':
      return { kind, place, evidence, supersedes: readSuperseded(item.value), ...newRule(input, item.value, evidence) };
    case 'confirmations':
      return {
        kind,
        place,
        evidence,
        target: readTarget(item.value),
        relation: 'supports',
        mayChange: readMayChange(item.value),
      };
    case 'links':
      return { kind, place, evidence, target: readTarget(item.value), relation: item.value.relation, mayChange: [] };
    case 'said_by_others':
      return { kind, place, evidence, item: readForeign(input, item.value, evidence) };
  }
}

/** Masks it as a rule is: an engine may have put it in words that the episode does not have. */
function readForeign(
  { context }: PreparationInput,
  { kind, content }: SaidByOthers,
  [episodeId]: string[],
): ForeignItem {
  if (content.trim() === '') throw new Refusal('content must not be blank');
  return { kind, content: createRedactor(context).mask(content.trim()), episodeId: episodeId ?? '' };
}

function readMayChange({ may_change: given }: Pick<NewFact, 'may_change'>): PossibleChange[] {
  const list = typeof given === 'string' ? [given] : (given ?? []);
  return list
    .map((one) => (typeof one === 'string' ? { id: one, likelihood: undefined } : one))
    .map(({ id, likelihood }) => ({ id: id.trim().toLowerCase(), likelihood }))
    .filter(({ id }) => id !== '')
    .map(({ id, likelihood }) => {
      const place = /^new_facts\/(?<place>\d{1,3})$/.exec(id)?.groups?.['place'];
      if (place !== undefined) return { fact: Number(place), likelihood };
      if (!isUuid(id)) throw new Refusal('may_change must be a UUID, or "new_facts/" and a place');
      return { fact: id, likelihood };
    });
}

function readSuperseded({ supersedes }: Pick<NewRule, 'supersedes'>): string | null {
  const id = supersedes?.trim().toLowerCase() ?? '';
  if (id !== '' && !isUuid(id)) throw new Refusal('supersedes must be a UUID');
  return id === '' ? null : id;
}

function readTarget({ target_type: type, target_id: given }: { target_type: 'fact' | 'rule'; target_id: string }): {
  type: 'fact' | 'rule';
  id: string;
} {
  const id = given.trim().toLowerCase();
  if (!isUuid(id)) throw new Refusal('target_id must be a UUID');
  return { type, id };
}

function newFact(
  { context, butler, episodes }: PreparationInput,
  item: NewFact,
  [sourceEpisodeId]: string[],
): { given: StoreFactInput; values: FactValues } {
  const source = sourceEpisodeId === undefined ? undefined : episodes.get(sourceEpisodeId);
  const given: StoreFactInput = {
    subject: item.subject,
    predicate: item.predicate,
    content: item.content,
    permanence: item.permanence,
    importance: item.importance,
    confidence: item.confidence,
    scope: requireScope(item.scope ?? globalScope, butler),
    tags: item.tags,
    kind: item.kind,
    observedAt: toDate(item.observed_at) ?? source?.observedAt ?? source?.createdAt ?? null,
    validTo: toDate(item.valid_to),
    sourceButler: butler,
    sourceEpisodeId,
  };
  return { given, values: normaliseFact(context, given) };
}

/** Takes the subject, predicate, scope, and whatever the item leaves out, from the fact that it replaces. */
function updatedFact(
  { context, butler, episodes }: PreparationInput,
  item: UpdatedFact,
  target: Fact,
  [sourceEpisodeId]: string[],
): { given: StoreFactInput; values: FactValues } {
  if (target.kind === 'event') throw new Refusal('target_id must not be an event: it happened, and does not change');
  const { subject, predicate, scope } = target;
  const source = sourceEpisodeId === undefined ? undefined : episodes.get(sourceEpisodeId);
  const given: StoreFactInput = {
    subject,
    predicate,
    content: item.content,
    permanence: item.permanence ?? target.permanence,
    importance: item.importance ?? target.importance,
    scope,
    tags: item.tags ?? (target.tags as string[]),
    observedAt: source?.observedAt ?? source?.createdAt ?? null,
    sourceButler: butler,
    sourceEpisodeId,
  };
  return { given, values: normaliseFact(context, given) };
}

function newRule(
  { context, butler, episodes }: PreparationInput,
  item: NewRule,
  evidence: string[],
): { values: RuleValues; saidAt: Date } {
  const contents = new Map([...episodes].map(([id, { content }]) => [id, content]));
  const values = normaliseRule(context, {
    content: item.content,
    scope: requireScope(item.scope ?? butler, butler),
    importance: item.importance,
    askedByUser: item.asked_by_user === true && isAskedByUser(item.evidence, contents),
    tags: item.tags,
    sourceButler: butler,
    sourceEpisodeId: evidence[0],
  });
  const times = evidence.flatMap((id) => episodes.get(id) ?? []).map((one) => one.observedAt ?? one.createdAt);
  return { values, saidAt: new Date(Math.max(...times.map((time) => time.getTime()))) };
}

/** A butler may write for all or for itself, but not into the scope of another butler. */
function requireScope(scope: string, butler: string): string {
  if (isVisible(scope.trim(), butler)) return scope;
  throw new Refusal(`scope: ${JSON.stringify(globalScope)} or the butler of the run, ${JSON.stringify(butler)}`);
}

export function isVisible(scope: string, butler: string): boolean {
  return scope === globalScope || scope === butler;
}

function toDate(text: string | null | undefined): Date | null {
  if (text === null || text === undefined || text.trim() === '') return null;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new Refusal('observed_at must be an ISO 8601 time');
  return date;
}

async function findTargets(context: MemoryContext, items: readonly OutputItem[]): Promise<Map<string, Fact>> {
  const { tenantId } = context.principal;
  const ids = items
    .flatMap((item) => (item.kind === 'updated_facts' ? [item.value.target_id.trim().toLowerCase()] : []))
    .filter((id) => isUuid(id));
  if (ids.length === 0) return new Map();
  const facts = await context.db.client.fact.findMany({ where: { tenantId, id: { in: ids } } });
  return new Map((await openRows(context, facts)).map((fact) => [fact.id, fact]));
}

async function decideDraft(context: MemoryContext, draft: Draft): Promise<Draft> {
  const isOfFact = draft.kind === 'new_facts' || draft.kind === 'updated_facts';
  return isOfFact ? { ...draft, values: await decideSealing(context, draft.values) } : draft;
}

async function embedDrafts(context: MemoryContext, drafts: readonly Draft[]): Promise<PreparedItem[]> {
  const written = drafts.filter((draft) => 'values' in draft);
  const texts = written.map((draft) =>
    draft.kind === 'new_rules' ? draft.values.content : embeddedText(draft.values),
  );
  const embedded = texts.length === 0 ? [] : await embedAll(context, texts);
  const textOf = new Map(written.map((draft, place) => [draft as Draft, embedded[place]]));
  return drafts.map((draft) => ('values' in draft ? { ...draft, embedded: textOf.get(draft) } : draft) as PreparedItem);
}
