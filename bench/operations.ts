import { Agent, request } from 'node:http';
import { question, sentence } from './texts.ts';

/** One of the things that butlers ask all day, over GraphQL. */
export interface Operation {
  query: string;
  variables: (number: number) => Record<string, unknown>;
}

/** Reads count their references, as those of an agent do: what that costs is measured too. */
export const context: Operation = {
  query: 'query ($input: ContextInput!) { context(input: $input, countReference: true) { text tokensUsed receiptId } }',
  variables: (number) => ({ input: { butler: 'bench', triggerPrompt: question(number) } }),
};

const found = 'results { score memory { uuid content createdAt } }';

export const search: Operation = {
  query: `query ($input: SearchInput!) { search(input: $input, countReference: true) { ${found} } }`,
  variables: (number) => ({ input: { query: question(number) } }),
};

export const recall: Operation = {
  query: `query ($input: RecallInput!) { recall(input: $input, countReference: true) { ${found} } }`,
  variables: (number) => ({ input: { topic: question(number) } }),
};

export const episode: Operation = {
  query:
    'mutation ($input: StoreEpisodeInput!) { storeEpisode(input: $input) { ... on StoreEpisodePayload { episode { id } } } }',
  variables: (number) => ({ input: { butler: 'bench', content: sentence(5_000_000 + number) } }),
};

const connections = new Agent({ keepAlive: true });

/** Null, or what went wrong. */
export async function ask(address: string, { query, variables }: Operation, number: number): Promise<string | null> {
  try {
    const { status, text } = await post(`${address}/graphql`, JSON.stringify({ query, variables: variables(number) }));
    if (status !== 200) return `status ${status}`;
    const { errors } = JSON.parse(text) as { errors?: { message: string }[] };
    return errors?.[0]?.message ?? null;
  } catch (error) {
    return String(error);
  }
}

/** Not `fetch`, which on a machine of two cores takes a good part of one for what it does around a request. */
function post(url: string, body: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const asking = request(url, { method: 'POST', agent: connections, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') }));
      response.on('error', reject);
    });
    asking.on('error', reject);
    asking.end(body);
  });
}
