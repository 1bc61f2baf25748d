import type { Config } from './schema.ts';

type TenantSection = keyof Config['butler']['tenants'][string];

/** The settings of all, but for the keys that the tenant has in a section of its own. */
export function settingsOfTenant<Section extends TenantSection>(
  config: Config,
  tenantId: string,
  section: Section,
): Config[Section] {
  const { tenants } = config.butler;
  const own = Object.hasOwn(tenants, tenantId) ? tenants[tenantId]?.[section] : undefined;
  return { ...config[section], ...own };
}
