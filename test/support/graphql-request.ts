export interface GraphQLAnswer<Data = unknown> {
  status: number;
  /** The body as it came, for a search for what must not be in it. */
  text: string;
  /** Null or absent when there are errors. */
  data: Data;
  errors?: { message: string; path?: string[]; extensions: { code: string; hint?: string } }[];
}

type Fetch = (request: Request) => Promise<Response>;

/** One operation over HTTP, at an app (`app.fetch`) or at a process (`fetch`). */
export async function requestGraphQL<Data>(
  fetch: Fetch,
  url: string,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<GraphQLAnswer<Data>> {
  return postToGraphQL(fetch, url, JSON.stringify({ query, variables }));
}

/** The same with a body of the caller's own making. */
export async function postToGraphQL<Data>(
  fetch: Fetch,
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<GraphQLAnswer<Data>> {
  const response = await fetch(
    new Request(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
    }),
  );
  const text = await response.text();
  const answer = JSON.parse(text) as Pick<GraphQLAnswer<Data>, 'data' | 'errors'>;
  return { status: response.status, text, ...answer };
}
