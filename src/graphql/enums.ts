import { builder } from './builder.ts';
import type { FactKind, FactValidity } from '../memory/facts/fact-values.ts';
import type { Generation } from '../memory/generation.ts';
import type { Maturity } from '../memory/rules/rule-maturity.ts';
import type { Permanence } from '../memory/confidence.ts';
import type { LinkDirection } from '../db/queries/links.ts';
import type { MemoryType } from '../db/tables.ts';
import type { WriteOutcome } from '../memory/write-outcome.ts';
import type { ChangeKind } from '../db/queries/past-states.ts';
import type { Relation } from '../memory/links/links.ts';
import type { Intent } from '../retrieval/query/intent.ts';
import type { DropStage } from '../retrieval/pipeline/ranked.ts';
import type { TokenizerName } from '../retrieval/context/tokenizers.ts';
import type { SectionName } from '../retrieval/context/sections.ts';

/** Every closed set that more than one type uses. The check constraints of the tables hold the same values. */

type Descriptions<Value extends string> = Record<Value, { description: string }>;

export const MemoryTypeEnum = builder.enumType('MemoryType', {
  description: 'The three kinds of memory.',
  values: {
    episode: { description: 'What happened.' },
    fact: { description: 'What is true.' },
    rule: { description: 'How to behave.' },
  } satisfies Descriptions<MemoryType>,
});

export const PermanenceEnum = builder.enumType('Permanence', {
  description: 'How fast confidence decays without confirmation.',
  values: {
    permanent: { description: 'Never decays: identity, family, medical conditions.' },
    stable: { description: 'Half-life of about 346 days: long-term preferences, profession.' },
    standard: { description: 'Half-life of about 87 days: current interests, projects.' },
    volatile: { description: 'Half-life of about 23 days: temporary states, plans.' },
    ephemeral: { description: 'Half-life of about 7 days: what happened today.' },
  } satisfies Descriptions<Permanence>,
});

export const ValidityEnum = builder.enumType('Validity', {
  description: 'Whether a fact or rule counts.',
  values: {
    active: { description: 'Counts.' },
    fading: { description: 'Its confidence has fallen below what retrieval asks for; a confirmation brings it back.' },
    superseded: { description: 'Another fact took its place. Rules are not superseded.' },
    expired: { description: 'Its confidence has decayed away.' },
    // Before the value it stands for: of two names for one value, the last is the one that answers give.
    forgotten: { value: 'retracted', description: 'The old name of retracted, taken and never given.' },
    retracted: { value: 'retracted', description: 'Forgotten on purpose; can be restored.' },
  } as const satisfies Record<FactValidity | 'forgotten', { value?: FactValidity; description: string }>,
});

export const RelationEnum = builder.enumType('Relation', {
  description: 'How one memory relates to another.',
  values: {
    derived_from: { description: 'Was learned from it.' },
    supports: { description: 'Speaks for it.' },
    contradicts: { description: 'Speaks against it.' },
    supersedes: { description: 'Took its place.' },
    related_to: { description: 'Has to do with it.' },
  } satisfies Descriptions<Relation>,
});

export const LinkDirectionEnum = builder.enumType('LinkDirection', {
  description: 'Direction of links, seen from a memory.',
  values: {
    outbound: { description: 'Links whose source is the memory.' },
    inbound: { description: 'Links whose target is the memory.' },
    both: { description: 'Both.' },
  } satisfies Descriptions<LinkDirection>,
});

export const ChangeKindEnum = builder.enumType('ChangeKind', {
  description: 'The kind of change of a memory between two times.',
  values: {
    created: { description: 'It was created.' },
    changed: { description: 'Its values changed.' },
    superseded: { description: 'A fact that was superseded by another.' },
    forgotten: { description: 'It was forgotten.' },
    expired: { description: 'It expired: its confidence decayed below the threshold.' },
    restored: { description: 'It was restored, or its forgetting was undone.' },
    removed: { description: 'It was deleted: an episode past its retention, or an erasure.' },
  } satisfies Descriptions<ChangeKind>,
});

export const ConsolidationStatusEnum = builder.enumType('ConsolidationStatus', {
  description: 'Consolidation status of an episode.',
  values: {
    pending: { description: 'Waits to be consolidated, or to be tried again.' },
    consolidated: { description: 'Done: what was worth keeping is in facts and rules.' },
    failed: { description: 'Cannot be consolidated, and will not be tried again.' },
    dead_letter: { description: 'Failed too often; an operator may requeue it.' },
  },
});

export const SectionNameEnum = builder.enumType('SectionName', {
  description: 'The sections of a context.',
  values: {
    facts: { description: 'Facts.' },
    rules: { description: 'Rules.' },
    episodes: { description: 'What happened lately.' },
  } satisfies Descriptions<SectionName>,
});

export const IntentEnum = builder.enumType('Intent', {
  description: 'Intent of a query, which weighs the memory types.',
  values: {
    identity: { description: 'The identity of a person.' },
    preference: { description: 'What somebody likes.' },
    procedure: { description: 'How something is done.' },
    episode: { description: 'What happened.' },
    general: { description: 'Anything else.' },
  } satisfies Descriptions<Intent>,
});

export const TokenizerEnum = builder.enumType('Tokenizer', {
  description: 'What counts tokens.',
  values: {
    o200k: { description: 'The encoding o200k_base.' },
    cl100k: { description: 'The encoding cl100k_base.' },
    model: { description: 'The tokenizer of the embedding model.' },
  } satisfies Descriptions<TokenizerName>,
});

export const DropStageEnum = builder.enumType('DropStage', {
  description: 'The stages that keep a memory out of an answer.',
  values: {
    not_found: { description: 'It is not there, or not for this caller.' },
    scope: { description: 'It is of another scope or butler.' },
    type: { description: 'Its type was not asked for.' },
    forgotten: { description: 'It was forgotten.' },
    expired: { description: 'It has expired.' },
    disabled: { description: 'It is a rule that was disabled.' },
    validity: { description: 'Its validity was not asked for.' },
    confidence: { description: 'Its effective confidence is below what was asked for.' },
    filter: { description: 'It does not pass another filter.' },
    no_match: { description: 'It is not among the best matches by words or by meaning.' },
    relevance_floor: { description: 'Its relevance is too low.' },
    min_similarity: {
      description: 'Its meaning is too far away; only in receipts from before relevance was absolute.',
    },
    duplicate: { description: 'A returned memory says the same.' },
    outdated: { description: 'It says only what no longer holds, or what returned memories say.' },
    cluster: { description: 'Enough other facts of its subject and predicate were returned.' },
    limit: { description: 'Ranked below the limit of the answer.' },
    too_long: { description: 'Its line does not fit into the token budget.' },
    quota: { description: 'The token share of its section was used up.' },
    budget: { description: 'The token budget was used up.' },
  } satisfies Descriptions<DropStage>,
});

export const FactKindEnum = builder.enumType('FactKind', {
  description: 'Kind of a fact: a lasting state, or an event at a point in time.',
  values: {
    state: { description: 'Holds until another fact supersedes it.' },
    event: { description: 'Happened at one time, and is never superseded: two meals on two days are two facts.' },
  } satisfies Descriptions<FactKind>,
});

export const MaturityEnum = builder.enumType('Maturity', {
  description: 'Maturity of a rule.',
  values: {
    candidate: { description: 'New; has yet to earn trust.' },
    established: { description: 'Has helped often enough to be relied on.' },
    proven: { description: 'Has helped for long, with hardly any harm.' },
    anti_pattern: { description: 'Did harm so often that it now warns of itself.' },
  } satisfies Descriptions<Maturity>,
});

export const WriteOutcomeEnum = builder.enumType('WriteOutcome', {
  description: 'What a write did to a memory.',
  values: {
    stored: { description: 'A new memory was stored.' },
    confirmed: { description: 'The memory was known, and counts as confirmed from now on.' },
    superseded: { description: 'A new memory was stored and took the place of another.' },
    forgotten: { description: 'No read returns it any more, until it is restored.' },
    restored: { description: 'A forgotten memory counts again.' },
    marked: { description: 'The outcome of an application of a rule was recorded.' },
    unchanged: { description: 'There was nothing to change.' },
  } satisfies Descriptions<WriteOutcome>,
});

export const GenerationEnum = builder.enumType('Generation', {
  description: 'How far a memory has come, derived from its type, permanence and maturity.',
  values: {
    eden: { description: 'Episodes.' },
    mid: { description: 'Ephemeral, volatile and standard facts, and rules that are not proven.' },
    long: { description: 'Stable and permanent facts, and proven rules.' },
  } satisfies Descriptions<Generation>,
});
