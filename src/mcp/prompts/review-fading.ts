import { warnOfData, writeData } from '../../shared/untrusted-text.ts';
import { limitArgument, readLimit, type Prompt } from './prompt.ts';

interface Found {
  fading: { edges: { node: { memory: Record<string, unknown>; expiresAt: string | null } }[] };
}

export const reviewFadingPrompt: Prompt = {
  name: 'review-fading',
  title: 'Review what is fading',
  description: 'Shows the facts and rules whose confidence has faded, to be confirmed, corrected or forgotten.',
  arguments: [limitArgument],
  operations: {
    fading: /* GraphQL */ `
      query MemoryPromptFading($limit: Int!) {
        fading(first: $limit, withinDays: 0) {
          edges {
            node {
              memory {
                type
                id: uuid
                content
                ... on Fact {
                  subject
                  predicate
                  scope
                  permanence
                  effectiveConfidence
                  lastConfirmedAt
                }
                ... on Rule {
                  scope
                  maturity
                  effectiveConfidence
                  lastConfirmedAt
                }
              }
              expiresAt
            }
          }
        }
      }
    `,
  },
  toVariables: (given) => ({ limit: readLimit(given) }),
  write: ({ fading }: Found) => {
    const found = fading.edges.map(({ node: { memory, expiresAt } }) => ({ ...memory, expiresAt }));
    if (found.length === 0) return ['No fact and no rule is fading: there is nothing to do.'];
    return [writeInstructions(found.length), writeData('memories', found)];
  },
};

function writeInstructions(count: number): string {
  return `Nobody has confirmed the ${count} facts and rules below for so long that they are no longer used, and in time they will expire, as "expiresAt" says. Go through them one by one and do one of these:

- It still holds, by what you know or by what the user says: call memory_confirm with its type and id.
- A fact has changed: call memory_store_fact with the same subject, predicate and scope and the new content. A rule should read otherwise: call memory_store_rule with the better text and the id of the old one as supersedes.
- It is wrong, or nobody will need it again: call memory_forget with its type and id.
- You cannot tell: ask the user. Without an answer leave it as it is; do not confirm it only to keep it.

At the end, say in a line for each what you did and why.

${warnOfData('memories')}`;
}
