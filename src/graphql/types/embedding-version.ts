import { listVersionProgress, type VersionProgress } from '../../lifecycle/embedding-progress.ts';
import { builder } from '../builder.ts';

const EmbeddingVersionStatusEnum = builder.enumType('EmbeddingVersionStatus', {
  description: 'What the vectors of an embedding model are used for.',
  values: {
    building: { description: 'Nothing yet: memories get them one by one, beside those of the active version.' },
    active: { description: 'Search.' },
    retired: { description: 'No longer used; its vectors are cleared by the reembed job.' },
  } satisfies Record<VersionProgress['version']['status'], object>,
});

const EmbeddingVersionRef = builder.objectRef<VersionProgress>('EmbeddingVersion').implement({
  description: 'An embedding model as this tenant uses it, and how many memories have its vectors.',
  fields: (t) => ({
    uuid: t.field({ type: 'UUID', description: 'The version.', resolve: ({ version }) => version.id }),
    status: t.field({
      type: EmbeddingVersionStatusEnum,
      description: 'What its vectors are used for.',
      resolve: ({ version }) => version.status,
    }),
    provider: t.string({
      description: 'Provider: transformers or hashing.',
      resolve: ({ version }) => version.provider,
    }),
    model: t.string({ description: 'Its name.', resolve: ({ version }) => version.model }),
    dtype: t.string({ description: 'Precision of its weights.', resolve: ({ version }) => version.dtype }),
    digest: t.string({
      description: 'Digest of its weights.',
      resolve: ({ version }) => version.digest,
    }),
    dimensions: t.int({ description: 'Length of its vectors.', resolve: ({ version }) => version.dimensions }),
    done: t.exposeInt('done', { description: 'How many memories, live or not, have its vector.' }),
    total: t.exposeInt('total', { description: 'How many memories there are, live or not.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was first used.',
      resolve: ({ version }) => version.createdAt,
    }),
    activatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When search began to use it; null before.',
      resolve: ({ version }) => version.activatedAt,
    }),
    retiredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When search stopped using it; null before.',
      resolve: ({ version }) => version.retiredAt,
    }),
  }),
});

builder.queryField('embeddingVersions', (t) =>
  t.field({
    type: [EmbeddingVersionRef],
    description:
      'The embedding models that this tenant uses or has used, oldest first: how far a change of the model is.',
    resolve: (_root, _args, { memory }) => listVersionProgress(memory),
  }),
);
