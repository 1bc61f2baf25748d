type Json = Record<string, unknown>;

/** Sends a GraphQL operation and gives its data. */
export async function ask(url: string, query: string, variables: Json = {}): Promise<Json> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: Json; errors?: { message: string }[] };
  if (data === undefined || errors !== undefined) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  return data;
}

async function call(url: string, name: string, args: Json): Promise<Json> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
  const { result } = (await response.json()) as { result?: { isError?: boolean; structuredContent: Json } };
  if (result === undefined || result.isError === true) throw new Error(`${name}: ${JSON.stringify(result)}`);
  return result.structuredContent;
}

const storeEpisode =
  'mutation ($input: StoreEpisodeInput!) { storeEpisode(input: $input) { ... on StoreEpisodePayload { episode { uuid consolidationStatus expiresAt } eventId } ... on Problem { code message hint } } }';

const readFacts =
  '{ facts(filter: { validity: [active, superseded] }) { totalCount edges { node { content validity supersedes { content } events { uuid eventType } } } } }';

interface Facts {
  facts: { edges: { node: { content: string; events: { uuid: string; eventType: string }[] } }[] };
}

/** All that the tour does to a running server, but for the feed. */
export async function takeTour(url: string): Promise<void> {
  await ask(url, '{ health { status version engine checks { name status } } }');
  await ask(url, storeEpisode, { input: { butler: 'health', content: 'User logged a weight of 75 kg' } });
  await ask(url, storeEpisode, { input: { butler: 'health', content: ' ' } });
  const facts = [
    { subject: 'user', predicate: 'favourite_food', content: 'ramen' },
    { subject: 'User', predicate: 'favourite food', content: 'soba' },
    { subject: 'user', predicate: 'drinks', content: 'tea', permanence: 'standard' },
  ];
  for (const fact of facts) await call(url, 'memory_store_fact', fact);
  await call(url, 'memory_store_rule', { content: 'Ask before you book a restaurant' });
  await call(url, 'memory_search', { query: 'weight' });
  await call(url, 'memory_recall', { topic: 'what does the user like to eat?' });
  await call(url, 'memory_context', {
    trigger_prompt: 'Book dinner for tonight',
    butler: 'general',
    token_budget: 300,
  });
  const { facts: stored } = (await ask(url, readFacts)) as unknown as Facts;
  const soba = stored.edges.find(({ node }) => node.content === 'soba');
  const event = soba?.node.events.find(({ eventType }) => eventType === 'fact.stored');
  await call(url, 'memory_undo', { event_id: event?.uuid });
  const now = new Date().toISOString();
  await ask(
    url,
    `{ facts { edges { node { content } } } asOf(at: "${now}") { facts { edges { node { content } } } } }`,
  );
  await ask(
    url,
    'mutation { ingestEpisodes(input: { episodes: [{ butler: "travel", content: "User said: I live in Lisbon and I am allergic to peanuts." }, { butler: "travel", content: "User: please always answer in Portuguese." }] }) { __typename } }',
  );
  await ask(
    url,
    'mutation { runJob(input: { name: "consolidate" }) { ... on RunJobPayload { run { status report { name count } } } } }',
  );
  await ask(
    url,
    '{ facts(filter: { butler: "travel" }) { edges { node { content permanence links { relation } } } } rules(filter: { butler: "travel" }) { edges { node { content scope maturity } } } }',
  );
}
