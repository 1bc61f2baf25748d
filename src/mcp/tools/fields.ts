import { handleOf } from '../../shared/handles.ts';
import { inertText } from '../../shared/untrusted-text.ts';

/** What a write did not store; see `describeOmissions`. */
export const omissionFields = 'redacted cut { field fromLength toLength }';

/** What a write did, until when it holds, and how to undo it; see `describeWrite`. */
export const outcomeFields = 'outcome keptUntil eventId';

/** The facts whose place the new one took. */
export const supersededFactFields =
  'superseded { id: uuid subject predicate content validity } alsoSuperseded { id: uuid subject predicate content }';
/** What tells whether a stored fact is current, and what is if it is not. */
export const standingFields = 'isUpcoming supersededBy { id: uuid subject predicate content }';
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

type Other = Pick<MemoryResult, 'id'> & Statement;

/** A tool's result for a write of one memory. */
export interface WrittenResult extends MemoryResult {
  outcome: 'stored' | 'confirmed' | 'superseded' | 'forgotten' | 'restored' | 'marked' | 'unchanged';
  kept_until: string | null;
  event_id: string | null;
  superseded?: (Other & { validity?: string }) | null;
  also_superseded?: Other[];
  /** Of a fact. */
  validity?: string;
  valid_from?: string | null;
  valid_to?: string | null;
  recorded_at?: string;
  is_upcoming?: boolean;
  superseded_by?: Other | null;
}

/** Says what a write did, until when the memory is kept, and how to undo it. */
export function describeWrite(written: WrittenResult, what = sayOutcome(written)): string {
  const { event_id: eventId } = written;
  return [
    what,
    ...saySuperseded(written),
    ...sayValidTime(written),
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
  return `Stored ${memory}${isHistory(written) ? ' as history' : ''}: ${text}`;
}

function saySuperseded(written: WrittenResult): string[] {
  const { type, superseded, also_superseded: others = [], valid_to: end } = written;
  const verb = isStandIn(written) ? `It stands in until ${formatDay(end ?? '')} for` : 'It took the place of';
  return [
    ...(superseded == null ? [] : [`${verb} ${nameOther(type, superseded)}`]),
    ...others.map((other) => `It took the place of ${nameOther(type, other)}`),
  ];
}

function nameOther(type: string, other: Other): string {
  return `${nameOf({ type, id: other.id })}: ${stateInertly(other)}`;
}

/** Whether a fact takes the place of another for a time: that one holds again then. */
function isStandIn({ superseded, valid_to: end }: WrittenResult): boolean {
  return end != null && (superseded?.validity === 'active' || superseded?.validity === 'fading');
}

/** Whether a fact was stored behind what is current: something later was said, or its time is over. */
function isHistory({ outcome, validity }: WrittenResult): boolean {
  return outcome === 'stored' && (validity === 'superseded' || validity === 'expired');
}

function sayValidTime(written: WrittenResult): string[] {
  const { type, superseded_by: later, valid_from: start, valid_to: end } = written;
  if (isHistory(written)) {
    if (later != null) return [`It is not current: ${nameOther(type, later)} was said later.`];
    return [end == null ? 'It is not current.' : `It is not current: it ended on ${formatDay(end)}.`];
  }
  return [
    ...(written.is_upcoming === true && start != null ? [`It holds from ${formatDay(start)} on, and not before.`] : []),
    ...(end != null && !isStandIn(written) ? [`It holds until ${formatDay(end)}.`] : []),
  ];
}

function sayKept(written: WrittenResult): string[] {
  const { type, kept_until: until, outcome, recorded_at: recorded } = written;
  if (outcome === 'forgotten') return [];
  if (isHistory(written)) return ['Kept in its history.'];
  if (until === null) return ['Kept for good.'];
  if (recorded !== undefined && until <= recorded && outcome === 'stored') {
    return [`It faded on ${formatDay(until)}, as it was said before: memory_confirm has it recalled again.`];
  }
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
