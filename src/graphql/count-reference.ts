import { builder } from './builder.ts';

const whenToSet =
  'Set it when an agent uses the answer. Default false: a person who looks at a page has used nothing. MCP tools always count; GET requests never do.';

/** Of a query whose results count as referenced: in ranking, promotion and eviction. */
export const countReferenceArgument = builder.args((t) => ({
  countReference: t.boolean({
    required: true,
    defaultValue: false,
    description: `Whether to count a reference of each memory returned. ${whenToSet}`,
  }),
}));

/** Of a context, which counts no reference: a memory that is shown would raise its own rank. */
export const countShownArgument = builder.args((t) => ({
  countReference: t.boolean({
    required: true,
    defaultValue: false,
    description: `Whether to protect the memories shown from eviction. Ranking and promotion do not change. ${whenToSet}`,
  }),
}));
