import { effectiveConfidence, type Permanence } from '../../memory/confidence.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { listOtherSuperseded } from '../../memory/facts/superseded.ts';
import { storeFact } from '../../memory/facts/facts.ts';
import type { FactKind, FactValidity } from '../../memory/facts/fact-values.ts';
import { findLookAlikes } from '../../memory/facts/look-alikes.ts';
import { isUpcoming } from '../../memory/facts/valid-time.ts';
import { readablePredicate } from '../../memory/facts/note-key.ts';
import { isSealedRow } from '../../encryption/sealing.ts';
import { viewedAt } from '../../memory/history/snapshots.ts';
import { builder } from '../builder.ts';
import { idempotencyKey, labels, source } from '../input-fields.ts';
import { findSourceId } from '../loaders.ts';
import { MemoryInterface } from './memory.ts';
import { asNode } from '../nodes.ts';
import { writeResult } from '../results.ts';
import { FactKindEnum, ValidityEnum, PermanenceEnum } from '../enums.ts';

export const FactRef = builder.prismaNode('Fact', {
  description: 'What is true: a subject, a predicate and what holds of them. Decays unless it is confirmed.',
  id: { resolve: ({ id }) => id, description: 'Global id: "fact:" and the UUID.' },
  nullable: true,
  interfaces: [MemoryInterface],
  findUnique: (id, { memory }) => ({ tenantId_id: { tenantId: memory.principal.tenantId, id } }),
  fields: (t) => ({
    subject: t.exposeString('subject', { description: 'The person or thing it is about, as it was written.' }),
    predicate: t.string({
      description: 'What it says about the subject, as it was written; "note" for a note.',
      resolve: (fact) => readablePredicate(fact),
    }),
    scope: t.exposeString('scope', { description: 'Visibility: "global", or the name of one butler.' }),
    kind: t.field({
      type: FactKindEnum,
      description: 'Kind: a lasting state, or an event at a point in time.',
      resolve: ({ kind }) => kind as FactKind,
    }),
    validity: t.field({
      type: ValidityEnum,
      description: 'Lifecycle state. Only `active` and `fading` count.',
      resolve: ({ validity }) => validity as FactValidity,
    }),
    confidence: t.exposeFloat('confidence', { description: 'From 0 to 1, when it was last confirmed.' }),
    effectiveConfidence: t.float({
      description: 'The confidence now: it has decayed since the last confirmation.',
      resolve: (fact, _args, { memory }) => effectiveConfidence(fact, viewedAt(fact, memory.now())),
    }),
    permanence: t.field({
      type: PermanenceEnum,
      description: 'Permanence class, which sets the decay rate.',
      resolve: ({ permanence }) => permanence as Permanence,
    }),
    decayRate: t.exposeFloat('decayRate', { description: 'Decay rate per day, set by the permanence.' }),
    isSealed: t.boolean({
      description: 'Whether content, tags and metadata are kept encrypted: it is found by subject and predicate only.',
      resolve: (fact) => isSealedRow(fact),
    }),
    sourceButler: t.exposeString('sourceButler', { nullable: true, description: 'The butler that learned it.' }),
    sourceEpisodeId: t.field({
      type: 'UUID',
      nullable: true,
      description: 'UUID of the episode it was learned from, for who may see that episode.',
      resolve: ({ sourceEpisodeId }, _args, { memory }) => findSourceId(memory, sourceEpisodeId),
    }),
    supersedesId: t.expose('supersedesId', {
      type: 'UUID',
      nullable: true,
      description: 'UUID of the fact that it supersedes.',
    }),
    observedAt: t.expose('observedAt', { type: 'DateTime', nullable: true, description: 'When it was observed.' }),
    validFrom: t.expose('validFrom', { type: 'DateTime', nullable: true, description: 'Since when it is true.' }),
    validTo: t.expose('validTo', { type: 'DateTime', nullable: true, description: 'Until when it was true.' }),
    isUpcoming: t.boolean({
      description: 'Whether its time has yet to come: it is current from `validFrom` on. Only contexts show it before.',
      resolve: (fact, _args, { memory }) => isUpcoming(fact, viewedAt(fact, memory.now())),
    }),
    recordedAt: t.expose('recordedAt', { type: 'DateTime', description: 'When it was recorded.' }),
    supersededAt: t.expose('supersededAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its supersession was recorded; null unless it was superseded.',
    }),
    lastConfirmedAt: t.expose('lastConfirmedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last confirmed; its decay counts from here.',
    }),
  }),
});

const StoreFactInput = builder.inputType('StoreFactInput', {
  description: 'A fact to store.',
  fields: (t) => ({
    subject: t.string({ required: true, description: 'The person or thing it is about, such as "user".' }),
    predicate: t.string({ required: true, description: 'What it says of the subject, such as "favourite_food".' }),
    content: t.string({ required: true, description: 'What holds.' }),
    importance: t.float({ description: 'From 1 (trivial) to 10 (vital). Default 5.' }),
    permanence: t.field({ type: PermanenceEnum, description: 'How fast it decays. Default standard.' }),
    confidence: t.float({ description: 'From 0 to 1. Default 1.' }),
    scope: t.string({ description: 'Visibility: "global", or the name of one butler. Default global.' }),
    kind: t.field({ type: FactKindEnum, description: 'An event is never superseded. Default state.' }),
    ...labels(t),
    ...source(t),
    observedAt: t.field({ type: 'DateTime', description: 'When it was observed. An event has now as its default.' }),
    validFrom: t.field({ type: 'DateTime', description: 'Since when it is true, if that is known.' }),
    validTo: t.field({ type: 'DateTime', description: 'Until when it is true, if that is known.' }),
    supersedes: t.string({
      description:
        'UUID or handle of a live fact that this one replaces although its predicate is another, such as one of `similar` in an earlier answer.',
    }),
    several: t.boolean({
      description:
        'Whether the predicate holds several values: true keeps the other values, false supersedes them all. Default: the configuration says so; likes, dislikes, speaks, allergic_to, has_child and member_of do.',
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

builder.queryField('fact', (t) =>
  t.prismaField({
    type: FactRef,
    nullable: true,
    description: 'One fact by its UUID, whatever its validity; null when it is not there.',
    args: { id: t.arg({ type: 'UUID', required: true, description: 'UUID of the fact.' }) },
    resolve: async (query, _root, { id }, { memory }) => {
      const { tenantId } = memory.principal;
      const where = { tenantId_id: { tenantId, id } };
      const fact = await memory.db.client.fact.findUnique({ ...query, where });
      return fact === null ? null : asNode(fact);
    },
  }),
);

/** The field of a payload that has the fact whose place another took. */
export const supersededFact = {
  type: FactRef,
  load: (context: MemoryContext, id: string): Promise<unknown> =>
    context.db.client.fact.findUnique({ where: { tenantId_id: { tenantId: context.principal.tenantId, id } } }),
  loadOthers: listOtherSuperseded,
};

const stored = writeResult('StoreFact', {
  field: 'fact',
  type: FactRef,
  description: 'The fact as it is now: the new one, or the one that said the same already.',
  mayConfirm: true,
  outcome: 'stored',
  superseded: supersededFact,
  similar: { type: FactRef, find: findLookAlikes },
});

builder.mutationField('storeFact', (t) =>
  t.field({
    type: stored.type,
    description:
      'Stores a fact. A live one with the same scope, subject and predicate is superseded by it; one that says the same already is confirmed instead. Predicates that mean the same, such as lives_in and home_city, count as one.',
    args: { input: t.arg({ type: StoreFactInput, required: true, description: 'The fact.' }) },
    resolve: (_root, { input }, { memory }) => stored.answer(memory, (context) => storeFact(context, input)),
  }),
);
