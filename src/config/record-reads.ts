import { buildConfig, valueAt } from './build-config.ts';
import { type Config, configPath, settings } from './schema.ts';

export interface RecordedConfig {
  readonly config: Config;
  /** Keys of the file that nobody has read so far, in the order of the schema. */
  unread(): string[];
}

/** A copy of the configuration that remembers which keys were read, so that a test can find a key nobody uses. */
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
