import { listAccesses, type AccessKind, type AccessRecord } from '../../memory/accesses.ts';
import { builder } from '../builder.ts';
import { readPage, totalCount } from '../pages.ts';

const AccessKindEnum = builder.enumType('AccessKind', {
  description: 'What a request was for.',
  values: {
    read: { description: 'To read.' },
    write: { description: 'To write; only written down of who came from another tenant.' },
    feed: { description: 'To follow what is done, from then on.' },
  } satisfies Record<AccessKind, object>,
});

const AccessRecordRef = builder.objectRef<AccessRecord>('AccessRecord').implement({
  description:
    'One request of an admin that read, or of somebody who crossed between this tenant and another: who asked for what, and nothing of what was said.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The record.' }),
    accessedAt: t.expose('accessedAt', { type: 'DateTime', description: 'When it was.' }),
    kind: t.field({
      type: AccessKindEnum,
      description: 'What it was for.',
      // A check constraint of the table holds the same values as the enum.
      resolve: ({ kind }) => kind as AccessKind,
    }),
    actor: t.exposeString('actor', { description: 'The caller, with the id of its token.' }),
    requestId: t.exposeString('requestId', { description: 'The request.' }),
    operations: t.exposeStringList('operations', { description: 'The fields of the API that it asked for.' }),
    ids: t.exposeStringList('ids', { description: 'The ids that it named, at most a hundred.' }),
    digest: t.exposeString('digest', { description: 'SHA-256 of what was asked, by which it can be known again.' }),
    homeTenant: t.exposeString('homeTenant', {
      nullable: true,
      description: 'The tenant that they came from, if it was not this one.',
    }),
    enteredTenant: t.exposeString('enteredTenant', {
      nullable: true,
      description: 'The tenant that somebody of this one entered, if it was another.',
    }),
  }),
});

builder.queryField('accesses', (t) =>
  t.connection(
    {
      type: AccessRecordRef,
      description: 'Access records: reads of admins, and requests into this tenant and out of it, newest first.',
      resolve: (_root, args, { memory }) =>
        readPage('accesses', args, async (page) => {
          const { records, total } = await listAccesses(memory, page);
          return { items: records, total };
        }) as never,
    },
    totalCount('AccessRecordConnection', 'A page of access records.'),
    { name: 'AccessRecordEdge', description: 'An access record, and its place.' },
  ),
);
