import type { Config } from '../config/schema.ts';
import { settingsOfTenant } from '../config/tenant-settings.ts';
import type { FindingKind } from './finding.ts';

export const redactionModes = ['off', 'mask', 'hash', 'refuse'] as const;
export type RedactionMode = (typeof redactionModes)[number];

/** The mode of each kind in one tenant. */
export type RedactionPolicy = Readonly<Record<FindingKind, RedactionMode>>;

type Settings = Config['redaction'];

/** The configuration key of each kind. */
const keyOf = {
  secret: 'secrets',
  iban: 'ibans',
  card: 'cards',
  national_id: 'nationalIds',
  email: 'emails',
  phone: 'phones',
} as const satisfies Record<FindingKind, keyof Settings>;

const policies = new WeakMap<Config, Map<string, RedactionPolicy>>();

/** Returns the installation's policy with the tenant's own keys over it. */
export function redactionPolicyOf(config: Config, tenantId: string): RedactionPolicy {
  const known = policies.get(config) ?? new Map<string, RedactionPolicy>();
  policies.set(config, known);
  const policy = known.get(tenantId) ?? merge(config, tenantId);
  known.set(tenantId, policy);
  return policy;
}

function merge(config: Config, tenantId: string): RedactionPolicy {
  const settings = settingsOfTenant(config, tenantId, 'redaction');
  const entries = Object.entries(keyOf).map(([kind, key]) => [kind, settings[key]]);
  return Object.fromEntries(entries) as Record<FindingKind, RedactionMode>;
}
