import { handleOf } from '../../shared/handles.ts';
import { inertText } from '../../shared/untrusted-text.ts';

/** What a write did not store; see `describeOmissions`. */
export const omissionFields = 'redacted cut { field fromLength toLength }';

/** What a write did, until when it holds, and how to undo it; see `describeWrite`. */
export const outcomeFields = 'outcome keptUntil eventId';

/** The memory whose place the new one took. */
export const supersededFactFields = 'superseded { id: uuid subject predicate content }';
export const supersededRuleFields = 'superseded { id: uuid content }';

/** How a mutation refuses; every operation of one must select it. */
export const problemFields = '... on Problem { code message hint }';

const commonFields = /* GraphQL */ `
  type
  id: uuid
  content
  importance
  generation
  createdAt
  version
  tags
  metadata
`;

const ownFields = {
  Episode: /* GraphQL */ `
    butler
    sessionId
    observedAt
    consolidationStatus
    consolidated
    nothingFound
    forgottenAt
    expiresAt
  `,
  Fact: /* GraphQL */ `
    subject
    predicate
    scope
    kind
    validity
    confidence
    effectiveConfidence
    permanence
    sourceButler
    sourceEpisodeId
    observedAt
    validFrom
    validTo
    lastConfirmedAt
  `,
  Rule: /* GraphQL */ `
    originalContent
    scope
    maturity
    askedByUserAt
    validity
    confidence
    effectiveConfidence
    effectivenessScore
    appliedCount
    successCount
    harmfulCount
    sourceButler
    lastConfirmedAt
  `,
};

/** Shown for one memory only: in a list they would crowd out the results. */
const detailFields = {
  Episode: /* GraphQL */ `
    segments { speaker text }
    consolidationAttempts
    lastConsolidationError
    nextConsolidationRetryAt
  `,
  Fact: /* GraphQL */ `
    decayRate
    supersedesId
    recordedAt
    supersededAt
  `,
  Rule: /* GraphQL */ `
    permanence
    decayRate
    sourceEpisodeId
    lastAppliedAt
    lastEvaluatedAt
    disabledAt
    forgottenAt
  `,
};

type TypeName = keyof typeof ownFields;

const commonDetails = /* GraphQL */ `
  referenceCount
  lastReferencedAt
  requestId
`;

const allOf = (type: TypeName): string => `${commonFields} ${commonDetails} ${ownFields[type]} ${detailFields[type]}`;

export const episodeFields = allOf('Episode');
export const factFields = allOf('Fact');
export const ruleFields = allOf('Rule');

/** All fields of a memory of any type. */
export const memoryFields = `
  __typename ${commonFields} ${commonDetails}
  ${onEachType((type) => `${ownFields[type]} ${detailFields[type]}`)}
`;

/** The fields of a memory in a list. */
export const briefMemoryFields = `__typename ${commonFields} ${onEachType((type) => ownFields[type])}`;

function onEachType(fieldsOf: (type: TypeName) => string): string {
  return (Object.keys(ownFields) as TypeName[]).map((type) => `... on ${type} { ${fieldsOf(type)} }`).join('\n');
}

/** A tool's result for a write of one memory. */
export interface WrittenResult extends MemoryResult {
  outcome: 'stored' | 'confirmed' | 'superseded' | 'forgotten' | 'restored' | 'marked' | 'unchanged';
  kept_until: string | null;
  event_id: string | null;
  superseded?: (Pick<MemoryResult, 'id'> & Statement) | null;
}

/** Says what a write did, until when the memory is kept, and how to undo it. */
export function describeWrite(written: WrittenResult, what = sayOutcome(written)): string {
  const { superseded, event_id: eventId } = written;
  return [
    what,
    ...(superseded
      ? [`It took the place of ${nameOf({ ...written, id: superseded.id })}: ${stateInertly(superseded)}`]
      : []),
    ...sayKept(written),
    ...(eventId === null ? [] : [`Undo with memory_undo of event ${eventId}.`]),
  ].join('\n');
}

function sayOutcome(written: WrittenResult): string {
  const { outcome } = written;
  const memory = nameOf(written);
  const text = stateInertly(written);
  if (outcome === 'confirmed') return `Confirmed ${memory}, which was known: ${text}`;
  if (outcome === 'forgotten') return `Forgot ${memory}: ${text}\nmemory_restore brings it back.`;
  if (outcome === 'restored') return `Restored ${memory}: ${text}`;
  if (outcome === 'unchanged') return `Nothing to change in ${memory}: ${text}`;
  return `Stored ${memory}: ${text}`;
}

function sayKept({ type, kept_until: until, outcome }: WrittenResult): string[] {
  if (outcome === 'forgotten') return [];
  if (until === null) return ['Kept for good.'];
  return [`Kept until ${formatDay(until)}${type === 'episode' ? '' : ', longer if confirmed'}.`];
}

/** The day in UTC, as in "12 March 2027". */
function formatDay(moment: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(moment));
}

/** Names a memory by its type and handle, which is shorter than its id. */
export function nameOf({ type, id }: Pick<MemoryResult, 'type' | 'id'>): string {
  return `${type} ${handleOf(id)}`;
}

/** The part of a tool's result that every memory has. */
export interface MemoryResult extends Statement {
  type: string;
  id: string;
}

/** What a memory says; of a fact also about what. */
interface Statement {
  content: string;
  subject?: string;
  predicate?: string;
}

/** What a memory says on one line, as "user, home_city: Porto". A note is a sentence and needs no key before it. */
export function stateInertly({ subject, predicate, content }: Statement): string {
  const about = subject === undefined || predicate === 'note' ? '' : `${subject}, ${predicate}: `;
  return inertText(about + content);
}
