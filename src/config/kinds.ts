import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { describeGiven } from '../shared/errors.ts';

/** One sort of value: what is allowed, in words that complete "must be …", and the schema that enforces it. */
export interface Kind<Value> {
  readonly allowed: string;
  readonly schema: z.ZodType<Value>;
  /** Turns the text of an environment variable into what the file would hold. Text that does not fit stays text. */
  readonly fromEnvironment?: (text: string) => unknown;
  /** The value holds a password, or is one as a whole: no message may show it. */
  readonly secret?: 'part' | 'whole';
}

export const wholeNumber = (minimum: number, maximum: number): Kind<number> => ({
  allowed: `a whole number from ${minimum} to ${maximum}`,
  schema: z.int().min(minimum).max(maximum),
  fromEnvironment: numberFromText,
});

export const numberBetween = (minimum: number, maximum: number): Kind<number> => ({
  allowed: `a number from ${minimum} to ${maximum}`,
  schema: z.number().min(minimum).max(maximum),
  fromEnvironment: numberFromText,
});

export const numberAbove = (exclusiveMinimum: number, maximum: number): Kind<number> => ({
  allowed: `a number above ${exclusiveMinimum}, at most ${maximum}`,
  schema: z.number().gt(exclusiveMinimum).max(maximum),
  fromEnvironment: numberFromText,
});

export const flag: Kind<boolean> = { allowed: 'true or false', schema: z.boolean() };

export const oneOf = <const Value extends string>(...values: readonly Value[]): Kind<Value> => ({
  allowed: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
  schema: z.enum(values),
});

export const someOf = <const Value extends string>(...values: readonly Value[]): Kind<readonly Value[]> => ({
  allowed: `a list of one or several of ${values.map((value) => `"${value}"`).join(', ')}`,
  schema: z.custom<readonly Value[]>().superRefine((given: unknown, context) => {
    const isKnown = (value: unknown): boolean => values.includes(value as Value);
    if (Array.isArray(given) && given.length > 0 && given.every(isKnown)) return;
    const stranger = Array.isArray(given)
      ? given.find((value) => typeof value === 'string' && !isKnown(value))
      : undefined;
    const reason = typeof stranger === 'string' ? `with ${describeGiven(stranger)}` : undefined;
    context.addIssue({ code: 'custom', params: { reason } });
  }),
});

export const line = (maximumCharacters: number): Kind<string> =>
  textWhere(
    `one line of text, 1 to ${maximumCharacters} characters`,
    (text) => text.trim() !== '' && text.length <= maximumCharacters,
  );

export const host: Kind<string> = textWhere('a host name or an IP address', (text) => /^[\w.:%-]{1,253}$/.test(text));

/** Also a directory name, so nothing that could climb out of the parent. */
export const databaseName: Kind<string> = textWhere(
  'lower-case letters, digits and underscores, at most 63, not starting with a digit',
  (text) => /^[a-z_][a-z0-9_]{0,62}$/.test(text),
);

/** `~someone` is refused: expanding it needs the user database, and not expanding it makes a directory named "~someone". */
export const directory: Kind<string> = textWhere(
  'the path of a directory, absolute, relative or starting with ~/',
  (text) => text.trim() !== '' && text.length <= 4096 && !/^~[^/\\]/.test(text),
);

export const file: Kind<string> = textWhere(
  'the path of a file, absolute or relative to the working directory',
  (text) => text.trim() !== '' && text.length <= 4096,
);

const hubModel = textWhere('a model of the hub, as owner/name or name', (text) =>
  /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/.test(text),
);

export const modelId: Kind<string> = {
  ...hubModel,
  schema: hubModel.schema.transform((name) => (name === 'all-MiniLM-L6-v2' ? `Xenova/${name}` : name)),
};

export const postgresUrl: Kind<string> = {
  ...textWhere(
    'a URL such as postgres://user:password@host:5432/database, special characters of the password percent-encoded',
    isPostgresUrl,
  ),
  secret: 'part',
};

/** Without a password in it, which would be shown wherever the URL is. */
export const httpUrl: Kind<string> = textWhere(
  'a URL such as https://host/v1, with neither a user nor a query in it',
  (text) => {
    if (!/^https?:\/\/\S{1,2048}$/.test(text) || !URL.canParse(text)) return false;
    const { username, password, search, hash } = new URL(text);
    return [username, password, search, hash].every((part) => part === '');
  },
);

/** As a header may hold it. */
export const secret: Kind<string> = {
  ...textWhere('1 to 4096 printable ASCII characters without blanks', (text) => /^[!-~]{1,4096}$/.test(text)),
  secret: 'whole',
};

/** 256 bits, as `openssl rand -base64 32` writes them. */
export const masterKey: Kind<string> = {
  ...textWhere('32 random bytes in base64: 44 characters', (text) => /^[A-Za-z0-9+/]{43}=$/.test(text)),
  secret: 'whole',
};

const listOf = (
  allowed: string,
  range: { minimum: number; maximum: number },
  accepts: (text: string) => boolean,
): Kind<readonly string[]> => ({
  allowed,
  schema: z
    .array(z.string())
    .min(range.minimum)
    .max(range.maximum)
    .refine((texts) => texts.every(accepts)),
});

/** A program and its arguments, as they are handed to the system: no shell reads them. */
export const commandLine = listOf(
  'a list of 1 to 100 texts: the program, then its arguments',
  { minimum: 1, maximum: 100 },
  (text) => text.length <= 10_000 && !text.includes('\0'),
);

export const variableNames = listOf(
  'a list of at most 100 names of environment variables',
  { minimum: 0, maximum: 100 },
  (text) => /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(text),
);

/** As browsers write them: no path, no slash at the end, no port that goes without saying. */
export const origins = listOf(
  'a list of at most 100 origins such as https://host or http://host:8080',
  { minimum: 0, maximum: 100 },
  (text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text,
);

/** In the form of keys: "Medical History" is `medical_history`. */
export const predicatePatterns = listOf(
  'a list of at most 100 predicates in lower case with underscores, in which * stands for any text and ? for one character',
  { minimum: 0, maximum: 100 },
  (text) => /^[^\s\p{Cc}\p{Lu}-]{1,200}$/u.test(text),
);

export const predicateNames = listOf(
  'a list of at most 50 predicates in lower case with underscores',
  { minimum: 0, maximum: 50 },
  (text) => /^[^\s\p{Cc}\p{Lu}*?-]{1,200}$/u.test(text),
);

export const cron: Kind<string> = {
  allowed: 'a cron expression of five fields (minute, hour, day of month, month, day of week)',
  schema: z.string().superRefine((expression, context) => {
    const reason = findCronFault(expression);
    if (reason !== undefined) context.addIssue({ code: 'custom', params: { reason } });
  }),
};

function textWhere(allowed: string, accepts: (text: string) => boolean): Kind<string> {
  return { allowed, schema: z.string().refine((text) => !/\p{Cc}/u.test(text) && accepts(text)) };
}

function numberFromText(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** A socket URL may have no host (postgres://user@/database?host=/run/postgresql), which URL alone refuses. */
function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\/\S{0,8192}$/.test(text) && URL.canParse(text.replace('@/', '@socket/'));
}

/**
 * The scheduler reads expressions with the same parser and options. That parser takes more than a crontab does:
 * missing fields, a sixth for seconds, and H for a random moment that differs at every start. Those are refused.
 */
function findCronFault(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) return `${expression.trim() === '' ? 0 : fields.length} fields`;
  if (fields.some((field) => /(^|,)H/i.test(field))) return 'H is not supported';
  try {
    CronExpressionParser.parse(expression, { tz: 'UTC', strict: false, currentDate: new Date(0) }).next();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 120) : 'not understood';
  }
}
