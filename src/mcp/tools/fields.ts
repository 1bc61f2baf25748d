/** What a write did not store; see `describeOmissions`. */
export const omissionFields = 'redacted cut { field fromLength toLength }';

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

/** Shown for one memory only: in a list they would crowd out the results. */
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

/** The part of a tool's result that every memory has. */
export interface MemoryResult {
  type: string;
  id: string;
  content: string;
}
