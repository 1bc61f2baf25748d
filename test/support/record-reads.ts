import { buildConfig, valueAt } from '../../src/config/build-config.ts';
import { type Config, configPath, settings } from '../../src/config/schema.ts';

export interface RecordedConfig {
  readonly config: Config;
  /** Lists the keys that were not read so far, in the order of the schema. */
  unread(): string[];
}

/** Copies the configuration and records which keys are read, so that a test can find a key that nothing uses. */
export function recordReads(config: Config): RecordedConfig {
  const read = new Set<string>();
  // Getters, not a proxy: a section must survive structuredClone, as it does on its way into a worker thread.
  const recorded = buildConfig(({ key }) => ({
    get() {
      read.add(key);
      return valueAt(config, configPath(key));
    },
  }));
  return {
    config: recorded,
    unread: () => settings.map(({ key }) => key).filter((key) => !read.has(key)),
  };
}
