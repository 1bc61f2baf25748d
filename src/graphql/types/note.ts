import { storeNote } from '../../memory/facts/notes.ts';
import { builder } from '../builder.ts';
import { GenerationEnum } from '../enums.ts';
import { writeResult } from '../results.ts';
import { MemoryInterface } from './memory.ts';

const StoreNoteInput = builder.inputType('StoreNoteInput', {
  description: 'Something to remember, with no more said about it.',
  fields: (t) => ({
    content: t.string({ required: true, description: 'What to remember.' }),
    tags: t.stringList({ description: 'Words to filter by; at most 64.' }),
    tier: t.field({
      type: GenerationEnum,
      description:
        'The generation it starts in: eden makes an episode, mid a standard fact, long a stable one. Default eden.',
    }),
    idempotencyKey: t.string({ description: 'The same key and input again give the first answer and change nothing.' }),
  }),
});

const stored = writeResult('StoreNote', {
  field: 'memory',
  type: MemoryInterface,
  description: 'The episode or fact that it became.',
});

builder.mutationField('storeNote', (t) =>
  t.field({
    type: stored.type,
    description: 'The short way to remember something: stores an episode or, for the later generations, a fact.',
    args: { input: t.arg({ type: StoreNoteInput, required: true, description: 'What to remember.' }) },
    resolve: (_root, { input }, { memory }) => stored.answer(memory, (context) => storeNote(context, input)),
  }),
);
