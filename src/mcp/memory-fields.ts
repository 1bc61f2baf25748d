/** What a tool tells of a memory. The fields of one type for a tool that answers with that type, else `memoryFields`. */
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

/** What only a reader of one memory wants: in a list of results it would crowd out the results. */
const detailFields = {
  Episode: /* GraphQL */ `
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

/** Of a memory of whatever type, all that there is. */
export const memoryFields = `
  __typename ${commonFields} ${commonDetails}
  ${onEachType((type) => `${ownFields[type]} ${detailFields[type]}`)}
`;

/** The same for one of many. */
export const briefMemoryFields = `__typename ${commonFields} ${onEachType((type) => ownFields[type])}`;

function onEachType(fieldsOf: (type: TypeName) => string): string {
  return (Object.keys(ownFields) as TypeName[]).map((type) => `... on ${type} { ${fieldsOf(type)} }`).join('\n');
}

/** What every memory has in the result of a tool. */
export interface MemoryResult {
  type: string;
  id: string;
  content: string;
}

/** What a tool tells of an event. */
export const eventFields = /* GraphQL */ `
  id: uuid
  eventType
  entityType
  entityId
  occurredAt
  actor
  requestId
  subrequestId
  segmentId
`;

export interface EventResult {
  id: string;
  event_type: string;
  entity_type: string;
  entity_id: string;
  occurred_at: string;
  actor: string;
}
