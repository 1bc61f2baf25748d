import type { StoredFact } from '../../db/stored-fact.ts';
import type { Fact } from '../../memory/facts/facts.ts';
import {
  listReviews,
  type Review,
  type ReviewKind,
  type ReviewOutcome,
  type ReviewStatus,
  type Settlement,
} from '../../memory/reviews/reviews.ts';
import { settleReview } from '../../memory/reviews/settle-review.ts';
import { builder } from '../builder.ts';
import { idempotencyKey } from '../input-fields.ts';
import type { GraphQLContext } from '../context.ts';
import { loadersOf } from '../loaders.ts';
import { asNode } from '../nodes.ts';
import { readPage, totalCount } from '../pages.ts';
import { writeResult } from '../results.ts';
import { FactRef } from './fact.ts';

/** The review list: pairs of facts that somebody should look at. */

const ReviewKindEnum = builder.enumType('ReviewKind', {
  description: 'What a review asks.',
  values: {
    same_thing: {
      description: 'Whether two facts with different predicates say the same, so that one replaces the other.',
    },
    note_change: { description: 'Whether a note replaces an earlier one.' },
  } satisfies Record<ReviewKind, object>,
});

const ReviewStatusEnum = builder.enumType('ReviewStatus', {
  description: 'State of a review.',
  values: {
    open: { description: 'Not decided.' },
    settled: { description: 'Decided, or no longer in question.' },
  } satisfies Record<ReviewStatus, object>,
});

const decisions = {
  keep_both: { description: 'Both facts hold.' },
  newer_supersedes: { description: 'The newer fact takes the place of the older one.' },
  older_supersedes: { description: 'The older fact takes the place of the newer one.' },
} satisfies Record<Settlement, object>;

const SettlementEnum = builder.enumType('ReviewSettlement', {
  description: 'How to settle a review.',
  values: decisions,
});

const ReviewOutcomeEnum = builder.enumType('ReviewOutcome', {
  description: 'How a review was settled.',
  values: {
    ...decisions,
    withdrawn: { description: 'The question is gone: one of the two was forgotten, superseded by a third, or undone.' },
  } satisfies Record<ReviewOutcome, object>,
});

const ReviewRef = builder.objectRef<Review>('Review').implement({
  description:
    'Two facts that may say the same, or of which one may replace the other. It is settled by `settleReview`, or when one of them is superseded or forgotten.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The review.' }),
    kind: t.field({ type: ReviewKindEnum, description: 'What it asks.', resolve: ({ kind }) => kind as ReviewKind }),
    reason: t.exposeString('reason', { description: 'What raised the question, such as "looks_alike".' }),
    likelihood: t.exposeFloat('likelihood', {
      nullable: true,
      description: 'How likely the newer replaced the older, 0 to 1; null where nobody estimated it.',
    }),
    status: t.field({
      type: ReviewStatusEnum,
      description: 'Whether it is decided.',
      resolve: ({ status }) => status as ReviewStatus,
    }),
    outcome: t.field({
      type: ReviewOutcomeEnum,
      nullable: true,
      description: 'How it was settled; null while it is open.',
      resolve: ({ outcome }) => outcome as ReviewOutcome | null,
    }),
    newer: t.field({
      type: FactRef,
      nullable: true,
      description: 'The fact that was stored later.',
      resolve: ({ newerId }, _args, { memory }) => findFact(memory, newerId),
    }),
    older: t.field({
      type: FactRef,
      nullable: true,
      description: 'The fact that was stored earlier.',
      resolve: ({ olderId }, _args, { memory }) => findFact(memory, olderId),
    }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When it was opened.' }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was settled; null while it is open.',
    }),
    settledBy: t.exposeString('settledBy', {
      nullable: true,
      description: 'The actor that settled it; null while it is open.',
    }),
  }),
});

async function findFact(memory: GraphQLContext['memory'], id: string): Promise<Fact | null> {
  const row = await loadersOf(memory).memories.load({ type: 'fact', id });
  return row === null ? null : asNode(row as StoredFact);
}

const ReviewFilterInput = builder.inputType('ReviewFilter', {
  description: 'Filter of reviews. Conditions that are left out do not narrow.',
  fields: (t) => ({
    status: t.field({ type: [ReviewStatusEnum], description: 'Any of these. Default open.' }),
    kind: t.field({ type: [ReviewKindEnum], description: 'Any of these.' }),
  }),
});

builder.queryField('reviews', (t) =>
  t.connection(
    {
      type: ReviewRef,
      description:
        'Pairs of facts to look at, the latest first; open ones by default. A butler sees those of facts that it sees.',
      args: { filter: t.arg({ type: ReviewFilterInput, description: 'Which are wanted.' }) },
      resolve: (_root, { filter, ...args }, { memory }) =>
        readPage('reviews', args, async (page) => {
          const { reviews, total } = await listReviews(memory, filter ?? {}, page);
          return { items: reviews, total };
        }) as never,
    },
    totalCount('ReviewConnection', 'A page of reviews.'),
    { name: 'ReviewEdge', description: 'A review, and its place.' },
  ),
);

const SettleReviewInput = builder.inputType('SettleReviewInput', {
  description: 'How to settle a review.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'UUID of the review.' }),
    outcome: t.field({
      type: SettlementEnum,
      required: true,
      description: 'The decision: one fact supersedes the other, or both stay.',
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const settled = writeResult('SettleReview', {
  field: 'review',
  type: ReviewRef,
  description: 'The review as it is now.',
});

builder.mutationField('settleReview', (t) =>
  t.field({
    type: settled.type,
    description:
      'Settles a review: both facts stay, or one of them supersedes the other. Undo of its event opens it again and brings the superseded fact back.',
    args: { input: t.arg({ type: SettleReviewInput, required: true, description: 'The review, and the decision.' }) },
    resolve: (_root, { input }, { memory }) => settled.answer(memory, (context) => settleReview(context, input)),
  }),
);
