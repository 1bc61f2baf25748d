import { findLookAlikes } from '../../memory/facts/look-alikes.ts';
import { storeNote } from '../../memory/facts/notes.ts';
import { builder } from '../builder.ts';
import { idempotencyKey } from '../input-fields.ts';
import { GenerationEnum } from '../enums.ts';
import { writeResult } from '../results.ts';
import { FactRef, supersededFact } from './fact.ts';
import { MemoryInterface } from './memory.ts';

const StoreNoteInput = builder.inputType('StoreNoteInput', {
  description: 'A text to remember.',
  fields: (t) => ({
    content: t.string({ required: true, description: 'What to remember.' }),
    tags: t.stringList({ description: 'Words to filter by; at most 64.' }),
    tier: t.field({
      type: GenerationEnum,
      description:
        'The generation it starts in: mid makes a note of standard permanence, long a stable one, eden an episode that expires within days. Default mid.',
    }),
    supersedes: t.string({
      description:
        'UUID or handle of a live fact or note that this one replaces, such as one of `similar` in an earlier answer. Not with eden.',
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const stored = writeResult('StoreNote', {
  field: 'memory',
  type: MemoryInterface,
  description: 'The note, which is a fact, or the episode. The same text again confirms the note that is there.',
  mayConfirm: true,
  outcome: 'stored',
  superseded: supersededFact,
  similar: { type: FactRef, find: findLookAlikes },
});

builder.mutationField('storeNote', (t) =>
  t.field({
    type: stored.type,
    description:
      'Remembers a text as a note, which searches, recalls and contexts find at once, in the scope of the calling butler; global for a caller without one. Use storeFact instead for what has a subject and may change.',
    args: { input: t.arg({ type: StoreNoteInput, required: true, description: 'What to remember.' }) },
    resolve: (_root, { input }, { memory }) => stored.answer(memory, (context) => storeNote(context, input)),
  }),
);
