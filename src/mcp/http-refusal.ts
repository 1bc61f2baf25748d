/** An answer to a request that never became a call: an error of JSON-RPC that belongs to no id. */
export function refuse(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  data?: object,
): Response {
  const error = { code, message, ...(data !== undefined && { data }) };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status, headers });
}

/** As the SDK numbers it, for which it has no name. */
export const sessionNotFound = -32_001;
