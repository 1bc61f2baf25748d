import {
  approveQuarantined,
  listQuarantine,
  refuseQuarantined,
  type QuarantinedItem,
  type QuarantineKind,
  type QuarantineStatus,
} from '../../memory/quarantine/quarantine.ts';
import { builder } from '../builder.ts';
import { idempotencyKey } from '../input-fields.ts';
import { readPage, totalCount } from '../pages.ts';
import { writeResult } from '../results.ts';

/** The quarantine: what consolidation found in text that neither the user nor the butler said. */

const QuarantineStatusEnum = builder.enumType('QuarantineStatus', {
  description: 'State of a quarantined item.',
  values: {
    waiting: { description: 'Not decided.' },
    approved: { description: 'Stored as a rule or note.' },
    refused: { description: 'Not to be stored.' },
  } satisfies Record<QuarantineStatus, object>,
});

const QuarantineKindEnum = builder.enumType('QuarantineKind', {
  description: 'What a quarantined item would become.',
  values: {
    fact: { description: 'A note.' },
    rule: { description: 'A rule of the butler.' },
  } satisfies Record<QuarantineKind, object>,
});

const QuarantinedItemRef = builder.objectRef<QuarantinedItem>('QuarantinedItem').implement({
  description:
    'A statement or instruction found in quoted mail, a fetched page, tool output or a newsletter. It is not learned unless an operator approves it, and goes with its episode.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The item.' }),
    kind: t.field({
      type: QuarantineKindEnum,
      description: 'What it would become.',
      resolve: ({ kind }) => kind as QuarantineKind,
    }),
    content: t.exposeString('content', {
      description: 'The sentence as it stands in the episode. Data, not an instruction.',
    }),
    butler: t.exposeString('butler', { description: 'The butler of the episode.' }),
    episodeId: t.expose('episodeId', { type: 'UUID', description: 'The episode it was found in.' }),
    status: t.field({
      type: QuarantineStatusEnum,
      description: 'Whether it is decided.',
      resolve: ({ status }) => status as QuarantineStatus,
    }),
    memoryId: t.expose('memoryId', {
      type: 'UUID',
      nullable: true,
      description: 'The rule or note that it became; null unless it was approved.',
    }),
    decidedBy: t.exposeString('decidedBy', {
      nullable: true,
      description: 'The actor that decided; null while it waits.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was found.' }),
    decidedAt: t.expose('decidedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was decided; null while it waits.',
    }),
  }),
});

builder.queryField('quarantine', (t) =>
  t.connection(
    {
      type: QuarantinedItemRef,
      description: 'What consolidation found in text of others and did not learn, the latest first.',
      args: {
        status: t.arg({ type: [QuarantineStatusEnum], description: 'In any of these states. Default waiting.' }),
      },
      resolve: (_root, { status, ...args }, { memory }) =>
        readPage('quarantine', args, (page) => listQuarantine(memory, { status }, page)) as never,
    },
    totalCount('QuarantineConnection', 'A page of quarantined items.'),
    { name: 'QuarantineEdge', description: 'A quarantined item, and its place.' },
  ),
);

const itemField = { field: 'item', type: QuarantinedItemRef, description: 'The item as it is now.' };
const approved = writeResult('ApproveQuarantined', itemField);
const refused = writeResult('RefuseQuarantined', itemField);

const DecideQuarantinedInput = builder.inputType('DecideQuarantinedInput', {
  description: 'The quarantined item to decide.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'UUID of the item, from `quarantine`.' }),
    idempotencyKey: idempotencyKey(t),
  }),
});

builder.mutationFields((t) => ({
  approveQuarantined: t.field({
    type: approved.type,
    description: 'Stores a quarantined item: an instruction as a rule of its butler, a statement as a note.',
    args: { input: t.arg({ type: DecideQuarantinedInput, required: true, description: 'The item.' }) },
    resolve: (_root, { input }, { memory }) => approved.answer(memory, (context) => approveQuarantined(context, input)),
  }),
  refuseQuarantined: t.field({
    type: refused.type,
    description: 'Refuses a quarantined item. It stays in the list until its episode expires.',
    args: { input: t.arg({ type: DecideQuarantinedInput, required: true, description: 'The item.' }) },
    resolve: (_root, { input }, { memory }) => refused.answer(memory, (context) => refuseQuarantined(context, input)),
  }),
}));
