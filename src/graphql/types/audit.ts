import { findChainHead, writeHead, type ChainHead } from '../../memory/history/audit-chain.ts';
import { builder } from '../builder.ts';

const AuditHeadRef = builder.objectRef<ChainHead>('AuditHead').implement({
  description:
    'Where the chain of the events ends. Kept where nobody who can write the database can write, it shows later that nothing before it was changed or cut off: `butler-memory verify --chain --since`.',
  fields: (t) => ({
    head: t.string({ description: 'Position and hash as one text, to be kept.', resolve: writeHead }),
    position: t.string({
      description: 'How many events there are up to it: a whole number, as text.',
      resolve: ({ position }) => String(position),
    }),
    hash: t.exposeString('hash', { description: 'SHA-256 over all events up to it, in hexadecimal.' }),
    eventId: t.expose('eventId', { type: 'UUID', description: 'The last event.' }),
    at: t.expose('at', { type: 'DateTime', nullable: true, description: 'When it happened; null when it is gone.' }),
  }),
});

builder.queryField('auditHead', (t) =>
  t.field({
    type: AuditHeadRef,
    nullable: true,
    description: 'Where the chain of the events of this tenant ends now; null as long as nothing was done.',
    resolve: (_root, _args, { memory }) => findChainHead(memory),
  }),
);
