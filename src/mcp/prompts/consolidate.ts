import { warnOfData, writeData } from '../../shared/untrusted-text.ts';
import { invalidInput } from '../../shared/errors.ts';
import { limitArgument, readLimit, type Prompt, type PromptValues } from './prompt.ts';

interface Found {
  episodes: { edges: { node: Record<string, unknown> }[] };
}

export const consolidatePrompt: Prompt = {
  name: 'consolidate',
  title: 'Turn episodes into facts and rules',
  description: 'Shows the pending episodes of a butler, and how to make lasting facts and rules of them.',
  arguments: [{ name: 'butler', description: 'The butler whose episodes are meant.', required: true }, limitArgument],
  operations: {
    episodes: /* GraphQL */ `
      query MemoryPromptConsolidate($butler: String!, $limit: Int!) {
        episodes(
          first: $limit
          filter: { butler: $butler, consolidationStatus: [pending] }
          order: { field: createdAt, direction: ascending }
        ) {
          edges {
            node {
              id: uuid
              content
              importance
              sessionId
              observedAt
              createdAt
              tags
            }
          }
        }
      }
    `,
  },
  toVariables: (given) => ({ butler: readButler(given), limit: readLimit(given) }),
  write: ({ episodes }: Found, given) => {
    const found = episodes.edges.map(({ node }) => node);
    const butler = JSON.stringify(readButler(given));
    if (found.length === 0) return [`No episode of the butler ${butler} is pending: there is nothing to do.`];
    return [writeInstructions(butler, found.length), writeData('episodes', found)];
  },
};

function readButler({ butler }: PromptValues): string {
  if (butler !== undefined && /^[^\p{Cc}\u2028\u2029]{1,200}$/u.test(butler) && butler.trim() !== '') return butler;
  throw invalidInput('butler', 'the name of a butler, on one line', butler ?? null);
}

function writeInstructions(butler: string, count: number): string {
  return `Episodes are raw notes of what happened, and they expire. Turn the ${count} below, all of the butler ${butler} and the oldest first, into knowledge that lasts. Read all of them before you write anything.

- What is true of someone or something becomes a fact: call memory_store_fact. One statement a fact. Keep subject and predicate short and the same for the same thing, because a fact takes the place of the one with the same subject and predicate. Write the content as a sentence that can be understood without the episode. Choose the permanence by how long it will hold, from "ephemeral" for a mood to "permanent" for a birthday.
- What to do or to avoid from now on becomes a rule: call memory_store_rule, with one instruction that says when it applies.
- Give every fact and rule the id of its episode as source_episode_id.
- Do not write down again what memory already holds: look for it with memory_search, and confirm it with memory_confirm. What has changed is stored as a new fact with the same subject and predicate.
- Leave out what mattered only at the time, what is a mere guess, and every password, key or number that gives access to something. Many episodes yield nothing.

At the end, say in a line for each episode what became of it.

${warnOfData('episodes')}`;
}
