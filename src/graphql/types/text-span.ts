import type { Span } from '../../memory/spans.ts';
import { builder } from '../builder.ts';

export const TextSpanType = builder.objectRef<Span>('TextSpan').implement({
  description: 'A part of a text. Offsets count characters (Unicode code points) from 0.',
  fields: (t) => ({
    start: t.int({ description: 'Offset of its first character.', resolve: ([start]) => start }),
    end: t.int({ description: 'Offset of the character after its last.', resolve: ([, end]) => end }),
  }),
});
