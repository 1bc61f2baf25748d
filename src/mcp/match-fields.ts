import { inertText } from '../shared/inert-text.ts';
import { briefMemoryFields, type MemoryResult } from './memory-fields.ts';
import { inlined } from './selection.ts';

/** What a tool tells of the memories that were found: each with its score, flat. */
export const matchFields = /* GraphQL */ `
  mode
  intent
  candidates
  receiptId
  results { score relevance isWarning ${inlined}: memory { ${briefMemoryFields} } }
`;

export interface MatchesResult {
  results: (MemoryResult & { score: number; is_warning: boolean; subject?: string; predicate?: string })[];
}

export function describeMatches({ results }: MatchesResult): string {
  if (results.length === 0) return 'Nothing was found.';
  return results
    .map(({ type, id, score, content, is_warning: isWarning, subject, predicate }) => {
      const about = subject === undefined ? '' : `${subject}, ${predicate}: `;
      return `${isWarning ? 'WARNING ' : ''}${type} ${id} (${score.toFixed(3)}): ${inertText(about + content)}`;
    })
    .join('\n');
}

/** What a tool tells of a context: the text, and what it is made of without saying it twice. */
export const contextFields = /* GraphQL */ `
  text
  tokensUsed
  tokenBudget
  tokenizer
  intent
  receiptId
  sections {
    name
    items {
      type
      id: uuid
      tokens
      score
    }
  }
`;

export interface ContextResult {
  text: string;
}
