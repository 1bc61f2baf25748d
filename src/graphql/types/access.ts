import { listAccesses, type AccessKind, type AccessRecord } from '../../memory/accesses.ts';
import { builder } from '../builder.ts';
import { readPage, totalCount } from '../pages.ts';

const AccessKindEnum = builder.enumType('AccessKind', {
  description: 'The kind of access.',
  values: {
    read: { description: 'A query.' },
    write: { description: 'A mutation; recorded only for a caller of another tenant.' },
    feed: { description: 'A subscription.' },
  } satisfies Record<AccessKind, object>,
});

const AccessRecordRef = builder.objectRef<AccessRecord>('AccessRecord').implement({
  description:
    'One request of an admin that read, or of somebody who crossed between this tenant and another: who asked for what, and nothing of what was said.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The record.' }),
    accessedAt: t.expose('accessedAt', { type: 'DateTime', description: 'Time of the request.' }),
    kind: t.field({
      type: AccessKindEnum,
      description: 'The kind of access: read, write or feed.',
      // A check constraint of the table holds the same values as the enum.
      resolve: ({ kind }) => kind as AccessKind,
    }),
    actor: t.exposeString('actor', { description: 'The caller, with the id of its token.' }),
    requestId: t.exposeString('requestId', { description: 'The request.' }),
    operations: t.exposeStringList('operations', { description: 'Root fields of the request.' }),
    ids: t.exposeStringList('ids', { description: 'Ids in the request, at most 100.' }),
    digest: t.exposeString('digest', { description: 'SHA-256 of the request: equal requests have equal digests.' }),
    homeTenant: t.exposeString('homeTenant', {
      nullable: true,
      description: 'The tenant of the caller; null if it is this one.',
    }),
    enteredTenant: t.exposeString('enteredTenant', {
      nullable: true,
      description: 'The tenant that a caller of this tenant accessed; null if it was this one.',
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
