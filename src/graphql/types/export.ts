import { exportSubject, type ExportPage } from '../../memory/erasure/export-subject.ts';
import { builder } from '../builder.ts';

const ExportPageRef = builder.objectRef<ExportPage>('SubjectExport').implement({
  description: 'A page of what is known of a subject.',
  fields: (t) => ({
    memories: t.field({
      type: ['JSONObject'],
      description:
        'Facts about it in whatever state, then memories that mention it: the memory, its events, links, source, and the receipts that showed it.',
      resolve: ({ memories }) => memories,
    }),
    next: t.exposeString('next', { nullable: true, description: 'For `after` of the next page; null after the last.' }),
  }),
});

builder.queryField('exportSubject', (t) =>
  t.field({
    type: ExportPageRef,
    description: "Everything stored about a subject, page by page, to answer a request for one's data.",
    args: {
      subject: t.arg.string({ required: true, description: 'The subject, however it is spelled.' }),
      first: t.arg.int({ description: 'How many memories at most: 1 to 50. Default: 20.' }),
      after: t.arg.string({ description: 'What the page before gave as `next`.' }),
    },
    complexity: { multiplier: 50 },
    resolve: (_root, { subject, first, after }, { memory }) => exportSubject(memory, { subject, limit: first, after }),
  }),
);
