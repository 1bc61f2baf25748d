import { builder } from './builder.ts';
import type { FactKind, FactValidity } from '../memory/facts.ts';
import type { Generation } from '../memory/generation.ts';
import type { Maturity } from '../memory/rule-maturity.ts';
import type { Permanence } from '../memory/confidence.ts';
import type { MemoryType } from '../db/sql/memory-snapshot.ts';

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
    retracted: { description: 'Forgotten on purpose; can be restored.' },
  } satisfies Descriptions<FactValidity>,
});

export const FactKindEnum = builder.enumType('FactKind', {
  description: 'Whether a fact lasts or is a point in time.',
  values: {
    state: { description: 'Lasts until another takes its place.' },
    event: { description: 'Happened at one time, and is never superseded: two meals on two days are two facts.' },
  } satisfies Descriptions<FactKind>,
});

export const MaturityEnum = builder.enumType('Maturity', {
  description: 'How much trust a rule has earned.',
  values: {
    candidate: { description: 'New; has yet to earn trust.' },
    established: { description: 'Has helped often enough to be relied on.' },
    proven: { description: 'Has helped for long, with hardly any harm.' },
    anti_pattern: { description: 'Did harm so often that it now warns of itself.' },
  } satisfies Descriptions<Maturity>,
});

export const GenerationEnum = builder.enumType('Generation', {
  description: 'How far a memory has come, derived from its type, permanence and maturity.',
  values: {
    eden: { description: 'Episodes.' },
    mid: { description: 'Ephemeral, volatile and standard facts, and rules that are not proven.' },
    long: { description: 'Stable and permanent facts, and proven rules.' },
  } satisfies Descriptions<Generation>,
});
