const loopbackHost = /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/;

export function isLoopback(host: string): boolean {
  return loopbackHost.test(host);
}

/**
 * Why a request must not be answered while there is no authentication; undefined when it may be. A page of another site
 * in the operator's browser must neither ask by our address nor by a name of its own that it pointed at this machine.
 */
export function findForeignness(url: string, origin: string | null | undefined): string | undefined {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target === undefined || !isLoopback(target.hostname)) {
    return `host: a loopback address (127.0.0.1, ::1, localhost) allowed while no authentication is configured; given ${JSON.stringify(target?.hostname ?? url)}`;
  }
  if (origin === null || origin === undefined || origin === target.origin) return undefined;
  return `origin: ${target.origin} allowed; given ${JSON.stringify(origin)}`;
}
