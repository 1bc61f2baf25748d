import type { TextCut } from '../../redaction/redactor.ts';
import type { Span } from '../../memory/spans.ts';
import { builder } from '../builder.ts';

export const TextCutType = builder.objectRef<TextCut>('TextCut').implement({
  description: 'A text that was too long to be kept whole: only its beginning is stored.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The name of the input field, such as content or reason.' }),
    fromLength: t.exposeInt('fromLength', {
      description: 'Length of the text before the cut, in UTF-16 code units, with blanks collapsed and secrets masked.',
    }),
    toLength: t.exposeInt('toLength', { description: 'Length of what is stored, in UTF-16 code units.' }),
  }),
});

export const TextSpanType = builder.objectRef<Span>('TextSpan').implement({
  description: 'A part of a text. Offsets count characters (Unicode code points) from 0.',
  fields: (t) => ({
    start: t.int({ description: 'Offset of its first character.', resolve: ([start]) => start }),
    end: t.int({ description: 'Offset of the character after its last.', resolve: ([, end]) => end }),
  }),
});
