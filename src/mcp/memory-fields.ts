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

export const episodeFields = `${commonFields} ${ownFields.Episode}`;
export const factFields = `${commonFields} ${ownFields.Fact}`;
export const ruleFields = `${commonFields} ${ownFields.Rule}`;
export const memoryFields = `
  __typename ${commonFields}
  ${Object.entries(ownFields)
    .map(([type, fields]) => `... on ${type} { ${fields} }`)
    .join('\n')}
`;

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
