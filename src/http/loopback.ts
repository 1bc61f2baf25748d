import { isIPv6 } from 'node:net';
import type { Config } from '../config/schema.ts';
import { isAllowedOrigin } from './cors.ts';

const loopbackHost = /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/;

export function isLoopback(host: string): boolean {
  return loopbackHost.test(host);
}

/** Whether to listen there is to listen on every address of the machine, so that it tells no name by which to come. */
export function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
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
  const names = config?.auth.mode === 'required' ? [own?.hostname ?? asInUrl(config.butler.host)] : [];
  if (target === undefined || !(isLoopback(target.hostname) || names.includes(target.hostname))) {
    const given = JSON.stringify(target?.hostname ?? url);
    return `host must be ${describeHosts(names, config?.auth.mode)} (got ${given})`;
  }
  if (origin === null || origin === undefined || origin === target.origin || origin === own?.origin) return undefined;
  if (config !== undefined && isAllowedOrigin(origin, config)) return undefined;
  return `origin must be ${own?.origin ?? target.origin} (got ${JSON.stringify(origin)})`;
}

function asInUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host.toLowerCase();
}

function describeHosts(names: readonly string[], mode: Config['auth']['mode'] = 'none'): string {
  const loopback = 'a loopback address (127.0.0.1, ::1, localhost)';
  if (mode === 'none') return `${loopback} while no authentication is configured`;
  return [...names.filter((name) => !isLoopback(name)), loopback].join(' or ');
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
  return `sec-fetch-site must be same-origin or none (got ${JSON.stringify(site)})`;
}
