import { buildConfig, valueAt } from './build-config.ts';
import { type Config, configPath } from './schema.ts';

/** The same configuration, fit for a bug report: no key is in it, and no URL shows its password. */
export function redactConfig(config: Config): Config {
  return buildConfig(({ key, secret }) => {
    const value = valueAt(config, configPath(key));
    if (value === undefined) return undefined;
    if (secret === 'whole') return { value: '***' };
    return { value: typeof value === 'string' ? hidePasswords(value) : value };
  });
}

/**
 * Hides from the colon after the user up to the last @, because a password that was not percent-encoded may hold one,
 * and in the query whatever is called a password. Searches instead of one pattern: linear for hostile text.
 */
export function hidePasswords(text: string): string {
  const scheme = text.search(/\w:\//);
  const colon = text.indexOf(':', scheme + 2);
  const end = text.lastIndexOf('@');
  const hidden = scheme >= 0 && colon >= 0 && colon < end ? `${text.slice(0, colon)}:***${text.slice(end)}` : text;
  return hidden.replace(/([?&][^=&?]*=)[^&]*/g, (pair, name: string) => (/pass/i.test(name) ? `${name}***` : pair));
}
