import { graphql } from '../generated/index.ts';

/** The operations of the contract, as a client of the GraphQL API would write them. */

export const contractMemory = graphql(/* GraphQL */ `
  fragment ContractMemory on Memory {
    type
    id: uuid
    content
    importance
    generation
    referenceCount
    createdAt
    version
    tags
    metadata
    ... on Episode {
      butler
      sessionId
      observedAt
      consolidationStatus
      consolidated
      nothingFound
      segments {
        speaker
        text
      }
      forgottenAt
      expiresAt
    }
    ... on Fact {
      subject
      predicate
      scope
      kind
      validity
      confidence
      effectiveConfidence
      permanence
      decayRate
      sourceButler
      sourceEpisodeId
      observedAt
      validFrom
      validTo
      supersedesId
      recordedAt
      supersededAt
      lastConfirmedAt
    }
    ... on Rule {
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
      sourceEpisodeId
      lastAppliedAt
      askedByUserAt
      disabledAt
      lastConfirmedAt
    }
  }
`);

export const contractProblem = graphql(/* GraphQL */ `
  fragment ContractProblem on Problem {
    code
    message
    hint
  }
`);

export const storeEpisode = graphql(/* GraphQL */ `
  mutation ContractStoreEpisode($input: StoreEpisodeInput!) {
    storeEpisode(input: $input) {
      ... on StoreEpisodePayload {
        outcome
        keptUntil
        redacted
        cut {
          field
          fromLength
          toLength
        }
        value: episode {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const storeFact = graphql(/* GraphQL */ `
  mutation ContractStoreFact($input: StoreFactInput!) {
    storeFact(input: $input) {
      ... on StoreFactPayload {
        outcome
        keptUntil
        superseded {
          id: uuid
          content
        }
        alsoSuperseded {
          id: uuid
          content
        }
        similar {
          id: uuid
          content
        }
        redacted
        cut {
          field
          fromLength
          toLength
        }
        confirmed
        value: fact {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const storeRule = graphql(/* GraphQL */ `
  mutation ContractStoreRule($input: StoreRuleInput!) {
    storeRule(input: $input) {
      ... on StoreRulePayload {
        outcome
        keptUntil
        superseded {
          id: uuid
          content
        }
        similar {
          id: uuid
          content
        }
        redacted
        cut {
          field
          fromLength
          toLength
        }
        confirmed
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const markHelpful = graphql(/* GraphQL */ `
  mutation ContractMarkHelpful($input: MarkRuleInput!) {
    markRuleHelpful(input: $input) {
      ... on MarkRulePayload {
        outcome
        keptUntil
        redacted
        cut {
          field
          fromLength
          toLength
        }
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const markHarmful = graphql(/* GraphQL */ `
  mutation ContractMarkHarmful($input: MarkRuleInput!) {
    markRuleHarmful(input: $input) {
      ... on MarkRulePayload {
        outcome
        keptUntil
        redacted
        cut {
          field
          fromLength
          toLength
        }
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const getMemory = graphql(/* GraphQL */ `
  query ContractMemory($type: MemoryType!, $id: String!) {
    memory(type: $type, id: $id) {
      ...ContractMemory
    }
  }
`);

export const confirmMemory = graphql(/* GraphQL */ `
  mutation ContractConfirm($input: MemoryWriteInput!) {
    confirmMemory(input: $input) {
      ... on ConfirmMemoryPayload {
        outcome
        keptUntil
        value: memory {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const forgetMemory = graphql(/* GraphQL */ `
  mutation ContractForget($input: ForgetMemoryInput!) {
    forgetMemory(input: $input) {
      ... on ForgetMemoryPayload {
        hidden {
          episodeId
          text
        }
        outcome
        keptUntil
        value: memory {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const forgetTopic = graphql(/* GraphQL */ `
  mutation ContractForgetTopic($input: ForgetMemoryInput!) {
    forgetMemory(input: $input) {
      ... on ForgetMemoryPayload {
        memories {
          ...ContractMemory
        }
        hidden {
          episodeId
          text
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const restoreMemory = graphql(/* GraphQL */ `
  mutation ContractRestore($input: MemoryWriteInput!) {
    restoreMemory(input: $input) {
      ... on RestoreMemoryPayload {
        outcome
        keptUntil
        value: memory {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const storeNote = graphql(/* GraphQL */ `
  mutation ContractStoreNote($input: StoreNoteInput!) {
    storeNote(input: $input) {
      ... on StoreNotePayload {
        outcome
        keptUntil
        superseded {
          id: uuid
          content
        }
        alsoSuperseded {
          id: uuid
          content
        }
        similar {
          id: uuid
          content
        }
        redacted
        cut {
          field
          fromLength
          toLength
        }
        value: memory {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const ingestEpisodes = graphql(/* GraphQL */ `
  mutation ContractIngest($input: IngestEpisodesInput!) {
    ingestEpisodes(input: $input) {
      ... on IngestEpisodesPayload {
        redacted
        cut {
          field
          fromLength
          toLength
        }
        episodes {
          id: uuid
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const claimConsolidation = graphql(/* GraphQL */ `
  mutation ContractClaimConsolidation($input: ClaimConsolidationInput!) {
    claimConsolidation(input: $input) {
      ... on ClaimConsolidationPayload {
        value: claim {
          run {
            id: uuid
            butler
            episodeCount
          }
          leaseExpiresAt
          prompt {
            system
            user
            tokens
          }
        }
      }
      ... on Problem {
        code
        message
      }
    }
  }
`);

export const submitConsolidation = graphql(/* GraphQL */ `
  mutation ContractSubmitConsolidation($input: SubmitConsolidationInput!) {
    submitConsolidation(input: $input) {
      ... on SubmitConsolidationPayload {
        redacted
        cut {
          field
          fromLength
          toLength
        }
        value: run {
          id: uuid
          butler
          status
          episodeCount
          factsCreated
          factsUpdated
          rulesCreated
          confirmations
          linksCreated
          refusedItems {
            kind
            place
            reason
          }
        }
      }
      ... on Problem {
        code
        message
      }
    }
  }
`);

export const requeueEpisodes = graphql(/* GraphQL */ `
  mutation ContractRequeueEpisodes($input: RequeueEpisodesInput!) {
    requeueEpisodes(input: $input) {
      ... on RequeueEpisodesPayload {
        value: requeue {
          episodes {
            id: uuid
          }
          refused {
            id: uuid
            reason
          }
        }
      }
      ... on Problem {
        code
        message
      }
    }
  }
`);

export const undo = graphql(/* GraphQL */ `
  mutation ContractUndo($input: UndoInput!) {
    undo(input: $input) {
      ... on UndoPayload {
        value: event {
          id: uuid
          eventType
          entityId
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const history = graphql(/* GraphQL */ `
  query ContractHistory($type: MemoryType!, $id: String!) {
    history(type: $type, id: $id) {
      versions {
        event {
          id: uuid
          eventType
          actor
          requestId
        }
        memory {
          ...ContractMemory
        }
      }
    }
  }
`);

export const stats = graphql(/* GraphQL */ `
  query ContractStats($scope: String) {
    stats(scope: $scope) {
      episodes {
        total
        backlog
        deadLetters
        nothingFound
      }
      facts {
        total
        byValidity {
          name
          count
        }
      }
      rules {
        total
        byMaturity {
          name
          count
        }
      }
      byGeneration {
        name
        count
      }
      dueEvictions {
        butler
        generation
        count
      }
      unknown
    }
  }
`);

export const contractMatches = graphql(/* GraphQL */ `
  fragment ContractMatches on SearchAnswer {
    mode
    receiptId
    results {
      score
      relevance
      isWarning
      isFresh
      memory {
        ...ContractMemory
      }
    }
  }
`);

export const search = graphql(/* GraphQL */ `
  query ContractSearch($input: SearchInput!) {
    search(input: $input) {
      ...ContractMatches
    }
  }
`);

export const recall = graphql(/* GraphQL */ `
  query ContractRecall($input: RecallInput!) {
    recall(input: $input) {
      ...ContractMatches
    }
  }
`);

export const context = graphql(/* GraphQL */ `
  query ContractContext($input: ContextInput!) {
    context(input: $input) {
      text
      tokensUsed
      tokenBudget
      receiptId
      sections {
        name
        items {
          type
          id: uuid
        }
      }
    }
  }
`);

export const explain = graphql(/* GraphQL */ `
  query ContractExplain($input: ExplainInput!) {
    explain(input: $input) {
      account
      memory {
        came
        stage
        place
      }
    }
  }
`);

export const promoteRule = graphql(/* GraphQL */ `
  mutation ContractPromoteRule($input: RuleWriteInput!) {
    promoteRule(input: $input) {
      ... on ChangeRulePayload {
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const demoteRule = graphql(/* GraphQL */ `
  mutation ContractDemoteRule($input: RuleWriteInput!) {
    demoteRule(input: $input) {
      ... on ChangeRulePayload {
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const disableRule = graphql(/* GraphQL */ `
  mutation ContractDisableRule($input: RuleWriteInput!) {
    disableRule(input: $input) {
      ... on ChangeRulePayload {
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const enableRule = graphql(/* GraphQL */ `
  mutation ContractEnableRule($input: RuleWriteInput!) {
    enableRule(input: $input) {
      ... on ChangeRulePayload {
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const editRule = graphql(/* GraphQL */ `
  mutation ContractEditRule($input: EditRuleInput!) {
    editRule(input: $input) {
      ... on EditRulePayload {
        value: rule {
          ...ContractMemory
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const approveQuarantined = graphql(/* GraphQL */ `
  mutation ContractApproveQuarantined($input: DecideQuarantinedInput!) {
    approveQuarantined(input: $input) {
      ... on ApproveQuarantinedPayload {
        value: item {
          id: uuid
          status
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const refuseQuarantined = graphql(/* GraphQL */ `
  mutation ContractRefuseQuarantined($input: DecideQuarantinedInput!) {
    refuseQuarantined(input: $input) {
      ... on RefuseQuarantinedPayload {
        value: item {
          id: uuid
          status
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const settleReview = graphql(/* GraphQL */ `
  mutation ContractSettleReview($input: SettleReviewInput!) {
    settleReview(input: $input) {
      ... on SettleReviewPayload {
        value: review {
          id: uuid
          outcome
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);

export const linkMemories = graphql(/* GraphQL */ `
  mutation ContractLinkMemories($input: LinkMemoriesInput!) {
    linkMemories(input: $input) {
      ... on LinkMemoriesPayload {
        value: link {
          relation
          createdAt
        }
        eventId
      }
      ...ContractProblem
    }
  }
`);
