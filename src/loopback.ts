import type { Config } from './config/schema.ts';
import { isAllowedOrigin } from './cors.ts';

const loopbackHost = /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/;

export function isLoopback(host: string): boolean {
  return loopbackHost.test(host);
}

/**
 * Why a request must not be answered; undefined when it may be. A page of another site in somebody's browser must
 * neither ask by our address nor by a name of its own that it pointed at this machine.
 */
export function findForeignness(
  url: string,
  origin: string | null | undefined,
  config?: Pick<Config, 'auth' | 'butler'>,
): string | undefined {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const own = config?.butler.publicUrl === undefined ? undefined : new URL(config.butler.publicUrl);
  const isGuarded = config?.auth.mode === 'required';
  if (target === undefined || !isOurs(target.hostname, own?.hostname, isGuarded)) {
    const given = JSON.stringify(target?.hostname ?? url);
    return `host: ${describeHosts(own?.hostname, isGuarded)}; given ${given}`;
  }
  if (origin === null || origin === undefined || origin === target.origin || origin === own?.origin) return undefined;
  if (config !== undefined && isAllowedOrigin(origin, config)) return undefined;
  return `origin: ${own?.origin ?? target.origin} allowed; given ${JSON.stringify(origin)}`;
}

/** Who must show a token may come by any name, unless we were told by which one. */
function isOurs(host: string, own: string | undefined, isGuarded: boolean): boolean {
  return isLoopback(host) || (isGuarded && (own === undefined || host === own));
}

function describeHosts(own: string | undefined, isGuarded: boolean): string {
  const loopback = 'a loopback address (127.0.0.1, ::1, localhost)';
  if (!isGuarded) return `${loopback} allowed while no authentication is configured`;
  return `${own ?? 'any'} or ${loopback} allowed`;
}

/** What browsers say of a request that our own page or a person sent. Programs say nothing. */
const ownSites: readonly (string | null)[] = [null, 'same-origin', 'none'];

/**
 * Why a request must not be answered that says nothing of its origin: a browser leaves that out when a page embeds
 * something, follows a link or sends a form. `site` is the header Sec-Fetch-Site, which a page cannot set.
 */
export function findCrossSite(site: string | null, origin: string | null): string | undefined {
  // One that is there was looked at by itself.
  if (origin !== null || ownSites.includes(site)) return undefined;
  return `sec-fetch-site: same-origin or none allowed; given ${JSON.stringify(site)}`;
}
