import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { type Config, configPath, settings } from '../../src/config/schema.ts';
import { MemoryError } from '../../src/shared/errors.ts';

type Env = Record<string, string | undefined>;

const homeDirectory = '/home/someone';
let workingDirectory: string;
let file: string;

beforeEach(() => {
  workingDirectory = mkdtempSync(join(tmpdir(), 'butler-config-'));
  file = join(workingDirectory, 'butler.toml');
});

afterEach(() => rmSync(workingDirectory, { recursive: true }));

function load(toml?: string | Uint8Array, env: Env = {}) {
  if (toml !== undefined) writeFileSync(file, toml);
  return loadConfig({ env, workingDirectory, homeDirectory });
}

/** The lines of the error, with the file shortened to its name. */
function problemsOf(toml?: string | Uint8Array, env: Env = {}): string[] {
  try {
    load(toml, env);
  } catch (error) {
    expect(error).toBeInstanceOf(MemoryError);
    expect((error as MemoryError).code).toBe('CONFIGURATION');
    return (error as MemoryError).message.replaceAll(file, 'butler.toml').split('\n');
  }
  throw new Error('the configuration was accepted');
}

describe('sources', () => {
  it('uses the defaults alone when there is no file', () => {
    const { config, source } = load();
    expect(source).toEqual({ file: undefined, environment: [] });
    expect(config.butler).toEqual({
      name: 'memory',
      description:
        'Shared institutional memory: stores, searches, consolidates and maintains knowledge across all butlers',
      host: '127.0.0.1',
      port: 8150,
      allowedOrigins: [],
      home: '/home/someone/.butler-memory',
      environment: 'development',
      shutdownGraceSeconds: 10,
      jobWorkers: 2,
      tenants: {},
    });
    expect(config.mcp).toEqual({
      toolGroups: ['store', 'read', 'context', 'feedback', 'manage', 'consolidate'],
      sessions: false,
      sessionIdleSeconds: 1800,
      maxSessions: 1000,
    });
    expect(config.memory.retrieval.scoreWeights).toEqual({
      relevance: 0.4,
      importance: 0.3,
      recency: 0.2,
      confidence: 0.1,
    });
    expect(config.schedule.decaySweep.cron).toBe('0 3 * * *');
    expect(config.db.statementTimeoutMs).toBe(15_000);
    expect('url' in config.db).toBe(false);
  });

  it('reads butler.toml of the working directory', () => {
    const { config, source } = load('[butler]\nport = 9000');
    expect(source.file).toBe(file);
    expect(config.butler.port).toBe(9000);
  });

  it('reads the file that BUTLER_MEMORY_CONFIG names instead, relative to the working directory', () => {
    writeFileSync(join(workingDirectory, 'other.toml'), '[butler]\nport = 9001');
    const { config, source } = load('[butler]\nport = 9000', { BUTLER_MEMORY_CONFIG: 'other.toml' });
    expect(source.file).toBe(join(workingDirectory, 'other.toml'));
    expect(config.butler.port).toBe(9001);
  });

  it('stops when the file that BUTLER_MEMORY_CONFIG names does not exist', () => {
    expect(problemsOf('', { BUTLER_MEMORY_CONFIG: '/nowhere/b.toml' })).toEqual([
      '/nowhere/b.toml (named by the environment variable BUTLER_MEMORY_CONFIG) must exist (got no such file)',
    ]);
  });

  it('stops when butler.toml is a directory', () => {
    mkdirSync(file);
    expect(problemsOf()).toEqual(['butler.toml must be a regular file (got a directory or a device)']);
  });

  it('stops when butler.toml is a link that leads nowhere', () => {
    symlinkSync(join(workingDirectory, 'gone.toml'), file);
    expect(problemsOf()).toEqual(['butler.toml must exist (got no such file)']);
  });

  it('follows a link to a file', () => {
    writeFileSync(join(workingDirectory, 'real.toml'), '[butler]\nport = 9002');
    symlinkSync(join(workingDirectory, 'real.toml'), file);
    expect(load().config.butler.port).toBe(9002);
  });

  it('lets the environment win over the file and names the variables it used', () => {
    const { config, source } = load('[butler]\nport = 9000\nhost = "0.0.0.0"', {
      PORT: '0',
      HOST: '::1',
      NODE_ENV: 'production',
      LOG_LEVEL: 'silent',
      DATABASE_URL: 'postgres://u:p@h/d',
      MIGRATION_DATABASE_URL: 'postgresql://owner@/d?host=/run/postgresql',
      BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing',
      BUTLER_MEMORY_HOME: 'data',
      UNRELATED: 'x',
    });
    expect(config.butler).toMatchObject({ port: 0, host: '::1', environment: 'production' });
    expect(config.butler.home).toBe(join(workingDirectory, 'data'));
    expect(config.log.level).toBe('silent');
    expect(config.db.url).toBe('postgres://u:p@h/d');
    expect(config.db.migrationUrl).toBe('postgresql://owner@/d?host=/run/postgresql');
    expect(config.memory.embedding.provider).toBe('hashing');
    expect(source.environment).toEqual([
      'HOST',
      'PORT',
      'BUTLER_MEMORY_HOME',
      'NODE_ENV',
      'DATABASE_URL',
      'MIGRATION_DATABASE_URL',
      'LOG_LEVEL',
      'BUTLER_MEMORY_EMBEDDING_PROVIDER',
    ]);
  });

  it('takes an empty variable for an absent one', () => {
    const empty = { DATABASE_URL: '', PORT: '', HOST: '', LOG_LEVEL: '', NODE_ENV: '', BUTLER_MEMORY_CONFIG: '' };
    const { config, source } = load('[butler]\nport = 9000', empty);
    expect(config.butler.port).toBe(9000);
    expect(config.db.url).toBeUndefined();
    expect(source).toEqual({ file, environment: [] });
  });

  it.each(['test', 'staging', 'Production'])('takes NODE_ENV=%s for development', (NODE_ENV) => {
    expect(load('[butler]\nenvironment = "production"', { NODE_ENV }).config.butler.environment).toBe('development');
  });

  it('wants the environment of the file to be exact', () => {
    expect(problemsOf('[butler]\nenvironment = "test"')).toEqual([
      'butler.toml: butler.environment must be one of "development", "production" (got "test")',
    ]);
  });
});

describe('the object', () => {
  it('is frozen in every table', () => {
    const { config } = load();
    const tables: object[] = [config];
    for (const table of tables) {
      expect(Object.isFrozen(table)).toBe(true);
      tables.push(...Object.values(table).filter((value) => typeof value === 'object'));
    }
    expect(tables.length).toBeGreaterThan(20);
  });

  it('holds every key of the schema that has a default at its camel-case place', () => {
    const { config } = load();
    const missing = settings.filter(({ key }) => {
      const value = configPath(key).reduce<unknown>((table, name) => (table as Record<string, unknown>)[name], config);
      return value === undefined;
    });
    expect(missing.map(({ key }) => key)).toEqual([
      'butler.public_url',
      'butler.auth.jwt.issuer',
      'butler.auth.jwt.audience',
      'butler.auth.jwt.jwks_url',
      'butler.auth.jwt.key_file',
      'butler.db.url',
      'butler.db.migration_url',
      'butler.graphql.introspection',
      'butler.graphql.graphiql',
      'butler.encryption.master_key',
      'butler.encryption.master_key_file',
      'butler.encryption.previous_master_key',
      'butler.encryption.previous_master_key_file',
      'butler.redaction.hash_key',
      'butler.retention.episodes',
      'butler.retention.facts',
      'butler.retention.rules',
      'butler.retention.receipts',
      'butler.retention.consolidation_runs',
      'butler.memory.embedding.models_directory',
      'butler.memory.consolidation.llm.base_url',
      'butler.memory.consolidation.llm.model',
      'butler.memory.consolidation.llm.api_key',
      'butler.memory.consolidation.llm.structured_output',
      'butler.memory.consolidation.llm.max_cost_per_day_usd',
      'butler.memory.consolidation.command.command',
    ]);
  });

  it('has exact types', () => {
    expectTypeOf<Config['butler']['port']>().toEqualTypeOf<number>();
    expectTypeOf<Config['db']['url']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Config['memory']['retrieval']['defaultMode']>().toEqualTypeOf<'hybrid' | 'semantic' | 'keyword'>();
    expectTypeOf<Config['memory']['rules']['promoteToProven']['minAgeDays']>().toEqualTypeOf<number>();
    expectTypeOf<keyof Config>().toEqualTypeOf<
      | 'butler'
      | 'auth'
      | 'db'
      | 'encryption'
      | 'graphql'
      | 'limits'
      | 'redaction'
      | 'retention'
      | 'mcp'
      | 'log'
      | 'schedule'
      | 'memory'
    >();
    expectTypeOf<Config['butler']>().not.toHaveProperty('db');
  });

  it('keeps the defaults of the keys that an inline table leaves out', () => {
    const { config } = load(`
      [butler.memory.rules]
      promote_to_proven = { min_successes = 20 }
      [butler.schedule]
      decay_sweep = { enabled = false }`);
    expect(config.memory.rules.promoteToProven).toEqual({ minSuccesses: 20, minEffectiveness: 0.8, minAgeDays: 30 });
    expect(config.schedule.decaySweep).toMatchObject({ cron: '0 3 * * *', enabled: false });
  });

  it('takes the short name of the default model for the same model', () => {
    const { config } = load('[butler.memory]\nembedding_model = "all-MiniLM-L6-v2"');
    expect(config.memory.embeddingModel).toBe('Xenova/all-MiniLM-L6-v2');
    expect(config.memory.embeddingModel).toBe(
      loadConfig({ env: {}, workingDirectory: '/', homeDirectory }).config.memory.embeddingModel,
    );
  });

  it('leaves the name of another model alone', () => {
    const { config } = load('[butler.memory]\nembedding_model = "BAAI/bge-small-en-v1.5"');
    expect(config.memory.embeddingModel).toBe('BAAI/bge-small-en-v1.5');
  });

  it.each([
    ['~', '/home/someone'],
    ['~/data', '/home/someone/data'],
    ['/var/lib/../butler', '/var/butler'],
  ])('makes the home %s absolute', (given, expected) => {
    expect(load(`[butler]\nhome = "${given}"`).config.butler.home).toBe(expected);
    expect(load('', { BUTLER_MEMORY_HOME: given }).config.butler.home).toBe(expected);
  });

  it('stops when ~ has nothing to stand for', () => {
    expect(() => loadConfig({ env: {}, workingDirectory, homeDirectory: '' })).toThrow(
      'butler.home must be an absolute path, as this user has no home directory (got "~/.butler-memory")',
    );
    const env = { BUTLER_MEMORY_HOME: '/srv/butler' };
    expect(loadConfig({ env, workingDirectory, homeDirectory: '' }).config.butler.home).toBe('/srv/butler');
  });
});

describe('a bad value', () => {
  const whole = 'must be a whole number from 0 to 65535';

  it.each([
    ['port = "8150"', `butler.port ${whole} (got "8150")`],
    ['port = 65536', `butler.port ${whole} (got 65536)`],
    ['port = -1', `butler.port ${whole} (got -1)`],
    ['port = 80.5', `butler.port ${whole} (got 80.5)`],
    ['port = nan', `butler.port ${whole} (got nan)`],
    ['port = -inf', `butler.port ${whole} (got -inf)`],
    ['port = true', `butler.port ${whole} (got true)`],
    ['port = [8150]', `butler.port ${whole} (got an array)`],
    ['port = { number = 1 }', `butler.port ${whole} (got a table)`],
    ['port = 1979-05-27', `butler.port ${whole} (got the date or time 1979-05-27)`],
    ['port = 07:32:00', `butler.port ${whole} (got the date or time 07:32:00.000)`],
    ['port = 99999999999999999999', `butler.port ${whole} (got 99999999999999999999)`],
    ['shutdown_grace_seconds = 0', 'butler.shutdown_grace_seconds must be a whole number from 1 to 600 (got 0)'],
    ['name = ""', 'butler.name must be one line of text, 1 to 100 characters (got "")'],
    ['name = "a\\nb"', 'butler.name must be one line of text, 1 to 100 characters (got "a\\nb")'],
    ['name = 7', 'butler.name must be one line of text, 1 to 100 characters (got 7)'],
    [
      'allowed_origins = "https://a.example"',
      'butler.allowed_origins must be a list of at most 100 origins such as https://host or http://host:8080 (got "https://a.example")',
    ],
    [
      'allowed_origins = ["*"]',
      'butler.allowed_origins must be a list of at most 100 origins such as https://host or http://host:8080 (got an array)',
    ],
    [
      'allowed_origins = ["https://a.example/"]',
      'butler.allowed_origins must be a list of at most 100 origins such as https://host or http://host:8080 (got an array)',
    ],
    [
      'allowed_origins = ["https://a.example:443"]',
      'butler.allowed_origins must be a list of at most 100 origins such as https://host or http://host:8080 (got an array)',
    ],
    [
      'allowed_origins = ["null"]',
      'butler.allowed_origins must be a list of at most 100 origins such as https://host or http://host:8080 (got an array)',
    ],
    ['host = "a b"', 'butler.host must be a host name or an IP address (got "a b")'],
    [
      'home = "~root/x"',
      'butler.home must be the path of a directory, absolute, relative or starting with ~/ (got "~root/x")',
    ],
    ['db = "x"', 'butler.db must be a table (got "x")'],
    ['db = 1979-05-27', 'butler.db must be a table (got the date or time 1979-05-27)'],
    ['log = []', 'butler.log must be a table (got an array)'],
    [
      'db.name = "../etc"',
      'butler.db.name must be lower-case letters, digits and underscores, at most 63, not starting with a digit (got "../etc")',
    ],
    [
      'memory.episodes.default_ttl_days = 0',
      'butler.memory.episodes.default_ttl_days must be a number above 0, at most 36500 (got 0)',
    ],
    [
      'memory.embedding.allow_download = "yes"',
      'butler.memory.embedding.allow_download must be true or false (got "yes")',
    ],
    [
      'memory.embedding_model = "../../x"',
      'butler.memory.embedding_model must be a model of the hub, as owner/name or name (got "../../x")',
    ],
    [
      'memory.embedding.dtype = "int8"',
      'butler.memory.embedding.dtype must be one of "fp32", "fp16", "q8", "q4" (got "int8")',
    ],
    [
      'memory.facts.retrieval_confidence_threshold = 1.01',
      'butler.memory.facts.retrieval_confidence_threshold must be a number from 0 to 1 (got 1.01)',
    ],
    [
      'memory.consolidation.llm.base_url = "ftp://host/v1"',
      'butler.memory.consolidation.llm.base_url must be a URL such as https://host/v1, with neither a user nor a query in it (got "ftp://host/v1")',
    ],
    [
      'memory.consolidation.command.command = "claude -p"',
      'butler.memory.consolidation.command.command must be a list of 1 to 100 texts: the program, then its arguments (got "claude -p")',
    ],
    [
      'memory.consolidation.command.environment = ["A=B"]',
      'butler.memory.consolidation.command.environment must be a list of at most 100 names of environment variables (got an array)',
    ],
  ])('%s is refused', (toml, expected) => {
    expect(problemsOf(`[butler]\n${toml}`)).toEqual([`butler.toml: ${expected}`]);
  });

  it.each([
    ['port = 0', (config: Config) => config.butler.port, 0],
    ['port = 65535', (config: Config) => config.butler.port, 65_535],
    ['memory.episodes.default_ttl_days = 0.5', (config: Config) => config.memory.episodes.defaultTtlDays, 0.5],
    ['memory.embedding_dimensions = 2000', (config: Config) => config.memory.embeddingDimensions, 2000],
    ['memory.retrieval.context_token_budget = 0', (config: Config) => config.memory.retrieval.contextTokenBudget, 0],
  ])('%s lies on the edge of the range and is accepted', (toml, read, expected) => {
    expect(read(load(`[butler]\n${toml}`).config)).toBe(expected);
  });

  it.each(['abc', '0x50', '1e3', ' 80', '80.5', '-1', 'tcp://10.0.0.1:80'])('PORT=%s is refused', (PORT) => {
    expect(problemsOf(undefined, { PORT })).toEqual([
      `environment variable PORT (butler.port) ${whole} (got "${PORT}")`,
    ]);
  });

  it('of an enumerated variable lists what is allowed', () => {
    expect(problemsOf(undefined, { LOG_LEVEL: 'INFO' })).toEqual([
      'environment variable LOG_LEVEL (butler.log.level) must be one of "trace", "debug", "info", "warn", "error", "fatal", "silent" (got "INFO")',
    ]);
  });

  it('in the file is reported although the environment replaces it', () => {
    expect(problemsOf('[butler]\nport = 70000', { PORT: '8150' })).toEqual([
      `butler.toml: butler.port ${whole} (got 70000)`,
    ]);
  });

  it('does not keep the others from being reported', () => {
    const toml = `
      [butler]
      port = 70000
      prot = 1
      [butler.memory]
      rules = 3
      facts = { expiry_confidence_threshold = 0.5 }
      [butler.log]
      level = "loud"`;
    const keys = problemsOf(toml, { HOST: 'a b', DATABASE_URL: 'x' }).map((line) => line.split(' must be')[0]);
    expect(keys).toEqual([
      'butler.toml: butler.port',
      'butler.toml: butler.log.level',
      'butler.toml: butler.memory.facts.expiry_confidence_threshold',
      'butler.toml: butler.memory.rules',
      expect.stringContaining('butler.toml: butler.prot: unknown key (did you mean port?)'),
      'environment variable HOST (butler.host)',
      'environment variable DATABASE_URL (butler.db.url)',
    ]);
  });

  it('of the environment is reported along with a file that is not TOML', () => {
    expect(problemsOf('[butler', { PORT: 'x' })).toHaveLength(2);
  });
});

describe('an unknown key', () => {
  const place = 'allowed in [butler.memory.long]: max_entries';

  it.each([
    [
      '[butler.memory.long]\nmax_entires = 1',
      `butler.memory.long.max_entires: unknown key (did you mean max_entries?); ${place}`,
    ],
    ['[butler.memory.long]\nzebra = 1', `butler.memory.long.zebra: unknown key; ${place}`],
    [
      '[butler.memory.long]\npool_size = 1',
      `butler.memory.long.pool_size: unknown key (did you mean butler.db.pool_size?); ${place}`,
    ],
    ['[memory]\nx = 1', 'memory: unknown key (did you mean butler.memory?); allowed at the top of the file: butler'],
    ['"a b\\n" = 1', '"a b\\n": unknown key; allowed at the top of the file: butler'],
  ])('is refused with what is allowed there: %s', (toml, expected) => {
    expect(problemsOf(toml)).toEqual([`butler.toml: ${expected}`]);
  });
});

describe('sections of tenants', () => {
  it('keep the name of the tenant, and what it has otherwise', () => {
    const { config } = load(`
      [butler.tenants."the_house of Wayne".redaction]
      national_ids = "refuse"
      [butler.tenants."the_house of Wayne".retention]
      job_runs = 5`);
    expect(config.butler.tenants).toEqual({
      'the_house of Wayne': { redaction: { nationalIds: 'refuse' }, retention: { jobRuns: 5 } },
    });
    expect(config.redaction.nationalIds).toBe('mask');
  });

  it.each([
    ['acme = 5', 'butler.tenants.acme must be a table (got 5)'],
    [
      'acme.redacton.cards = "mask"',
      'butler.tenants.acme.redacton: unknown key (did you mean redaction?); allowed in [butler.tenants.acme]: redaction, retention',
    ],
    [
      'acme.redaction.card = "mask"',
      'butler.tenants.acme.redaction.card: unknown key (did you mean cards?); allowed in [butler.tenants.acme.redaction]: secrets, cards, ibans, national_ids, emails, phones',
    ],
    [
      'acme.redaction.cards = "hide"',
      'butler.tenants.acme.redaction.cards must be one of "off", "mask", "hash", "refuse" (got "hide")',
    ],
    ['acme.retention.facts = 0', 'butler.tenants.acme.retention.facts must be a number above 0, at most 36500 (got 0)'],
    [
      'acme.redaction.hash_key = "k"',
      'butler.tenants.acme.redaction.hash_key: unknown key (did you mean butler.redaction.hash_key?); allowed in [butler.tenants.acme.redaction]: secrets, cards, ibans, national_ids, emails, phones',
    ],
  ])('are refused when they do not fit: %s', (toml, problem) => {
    expect(problemsOf(`[butler.tenants]\n${toml}`)).toEqual([`butler.toml: ${problem}`]);
  });

  it.each(['[butler.redaction]\ncards = "hash"', '[butler.tenants.acme.redaction]\ncards = "hash"'])(
    'and the section of all need a key where something is hashed: %s',
    (toml) => {
      expect(problemsOf(toml)).toEqual([
        'butler.redaction.hash_key must be set while something is redacted with "hash" (got nothing)',
      ]);
      expect(load(toml, { BUTLER_MEMORY_REDACTION_KEY: 'k' }).config.redaction.hashKey).toBe('k');
    },
  );
});

describe('rules between keys', () => {
  const weights = (values: string) => `[butler.memory.retrieval]\nscore_weights = { ${values} }`;

  it('wants the score weights to sum to 1, the defaults included', () => {
    expect(problemsOf(weights('relevance = 0.5'))).toEqual([
      'butler.toml: butler.memory.retrieval.score_weights must be four weights that sum to 1 (got relevance 0.5 + importance 0.3 + recency 0.2 + confidence 0.1 = 1.1)',
    ]);
  });

  it('forgives the rounding of decimals but nothing larger', () => {
    const three = 'importance = 0.1, recency = 0.1, confidence = 0.1';
    expect(load(weights(`relevance = 0.7000005, ${three}`)).config.memory.retrieval.scoreWeights.relevance).toBe(
      0.7000005,
    );
    expect(problemsOf(weights(`relevance = 0.70001, ${three}`))).toHaveLength(1);
  });

  it('reports a misspelt weight without a sum that follows from it', () => {
    expect(problemsOf(weights('relevence = 0.5'))).toEqual([
      'butler.toml: butler.memory.retrieval.score_weights.relevence: unknown key (did you mean relevance?); allowed in [butler.memory.retrieval.score_weights]: relevance, importance, recency, confidence',
    ]);
  });

  it.each([
    ['retrieval_confidence_threshold = 0.05', 0.05, 0.05],
    ['retrieval_confidence_threshold = 0.01', 0.01, 0.05],
    ['expiry_confidence_threshold = 0.3', 0.2, 0.3],
  ])('wants facts to expire below where they stop being retrieved: %s', (toml, retrieval, expiry) => {
    expect(problemsOf(`[butler.memory.facts]\n${toml}`)).toEqual([
      `butler.toml: butler.memory.facts.expiry_confidence_threshold must be below retrieval_confidence_threshold, which is ${retrieval} (got ${expiry})`,
    ]);
  });
});

describe('the engine of the consolidation', () => {
  const table = 'butler.memory.consolidation';

  it.each([
    ['engine = "llm"', 'llm.model', 'llm'],
    ['engine = "llm"\nllm.model = "m"', 'llm.base_url', 'llm'],
    ['engine = "llm"\nllm.provider = "anthropic"', 'llm.model', 'llm'],
    ['engine = "command"', 'command.command', 'command'],
  ])('wants what it cannot work without: %j', (toml, key, engine) => {
    expect(problemsOf(`[${table}]\n${toml}`)).toEqual([
      `butler.toml: ${table}.${key} must be set while engine is "${engine}" (got nothing)`,
    ]);
  });

  it.each([
    'engine = "llm"\nllm = { model = "m", base_url = "http://127.0.0.1:11434/v1" }',
    'engine = "llm"\nllm = { model = "claude", provider = "anthropic" }',
    'engine = "command"\ncommand.command = ["claude", "-p"]',
    'engine = "patterns"',
  ])('is content with that: %j', (toml) => {
    expect(load(`[${table}]\n${toml}`).config.memory.consolidation.engine).not.toBe('off');
  });

  it('wants prices where there is a limit of what it may cost', () => {
    expect(problemsOf(`[${table}.llm]\nmax_cost_per_day_usd = 1`)).toEqual([
      `butler.toml: ${table}.llm.max_cost_per_day_usd must be left out while input_cost_per_million and output_cost_per_million are both 0 (got 1)`,
    ]);
  });
});

describe('a cron expression', () => {
  const toml = (cron: string) => `[butler.schedule]\nconsolidate = { cron = ${JSON.stringify(cron)} }`;

  it.each([
    ['[]', 'an array'],
    ['"store"', '"store"'],
    ['["store", "write"]', 'an array: with "write"'],
    ['["store", 5]', 'an array'],
    ['{}', 'a table'],
    ['true', 'true'],
  ])('the groups of tools may not be %s', (given, shown) => {
    expect(problemsOf(`[butler.mcp]\ntool_groups = ${given}`)).toEqual([
      'butler.toml: butler.mcp.tool_groups must be a list of one or several of ' +
        `"store", "read", "context", "feedback", "manage", "consolidate" (got ${shown})`,
    ]);
  });

  it('takes a list of some groups of tools', () => {
    expect(load('[butler.mcp]\ntool_groups = ["read"]').config.mcp.toolGroups).toEqual(['read']);
  });

  it.each(['* * * * *', '*/5 0-6 1,15 jan-jun MON-FRI', '0 0 29 2 *', '0  3 * * 7', '0 0 L * *'])(
    '%s is accepted',
    (cron) => expect(load(toml(cron)).config.schedule.consolidate.cron).toBe(cron),
  );

  it.each([
    ['61 * * * *', 'Constraint error, got value 61 expected range 0-59'],
    ['0 0 31 2 *', 'Invalid explicit day of month definition'],
    ['', '0 fields'],
    ['* * * *', '4 fields'],
    ['0 * * * * *', '6 fields'],
    ['@daily', '1 fields'],
    ['H 3 * * *', 'H is not supported'],
  ])('%s is refused with the reason', (cron, reason) => {
    expect(problemsOf(toml(cron))).toEqual([
      `butler.toml: butler.schedule.consolidate.cron must be a cron expression of five fields (minute, hour, day of month, month, day of week) (got "${cron}": ${reason})`,
    ]);
  });

  it('that is no text is refused', () => {
    expect(problemsOf('[butler.schedule]\nconsolidate = { cron = 5 }')).toEqual([
      expect.stringMatching(/cron must be a cron expression .* \(got 5\)$/),
    ]);
  });

  it('cannot be given without its table', () => {
    expect(problemsOf('[butler.schedule]\nconsolidate = "0 3 * * *"')).toEqual([
      'butler.toml: butler.schedule.consolidate must be a table (got "0 3 * * *")',
    ]);
  });
});

describe('secrets', () => {
  it.each([
    ['a URL of another database', 'mysql://root:hunter2@db/x'],
    ['a URL that does not parse', 'postgres://root:hunter2/x@db/x'],
    ['a bare password', 'hunter2'],
    ['a URL with a line break', 'postgres://root:hunter2@db/x\n'],
  ])('%s is refused without being shown', (_, secret) => {
    const problems = problemsOf(`[butler.db]\nurl = ${JSON.stringify(secret)}`, { MIGRATION_DATABASE_URL: secret });
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('butler.db.url must be a URL such as postgres://');
    expect(problems[1]).toContain('environment variable MIGRATION_DATABASE_URL (butler.db.migration_url) must be');
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each([
    ['under a key that is no secret', '[butler.db]\nname = "postgres://root:hunter2@db/x"'],
    ['in place of a cron expression', '[butler.schedule]\nconsolidate.cron = "postgres://root:hunter2@db/x"'],
    ['in place of a table', '[butler]\ndb = "postgres://root:hunter2@db/x"'],
    ['as a key', '"postgres://root:hunter2@db/x" = 1'],
    ['on a line that is not TOML', '[butler.db]\nurl = "postgres://root:hunter2@db/x'],
    ['in an array', '[butler.db]\nurl = ["postgres://root:hunter2@db/x"]'],
    ['under a misspelt key', '[butler.db]\nurll = "postgres://root:hunter2@db/x"'],
  ])('a database URL %s is refused without its password', (_, toml) => {
    expect(problemsOf(toml).join()).not.toContain('hunter2');
  });

  it.each([
    ['a user', 'https://me:hunter2@host/v1'],
    ['a query', 'https://host/v1?password=hunter2'],
  ])('the address of a model with %s is refused without being shown', (_, url) => {
    const problems = problemsOf(`[butler.memory.consolidation.llm]\nbase_url = "${url}"`);
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('the key of a model that cannot be one is refused without being shown', () => {
    const problems = problemsOf('[butler.memory.consolidation.llm]\napi_key = "hunter2 "', {
      BUTLER_MEMORY_LLM_API_KEY: 'hunter2\n',
    });
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('a database URL in the variable that names the file does not show its password', () => {
    expect(problemsOf('', { BUTLER_MEMORY_CONFIG: 'postgres://root:hunter2@db/x' }).join()).not.toContain('hunter2');
  });
});

describe('hostile files', () => {
  it('that are not TOML are refused with line and column, on one line', () => {
    expect(problemsOf('[butler]\nport = nope')).toEqual([
      'butler.toml must be valid TOML; line 2, column 8: invalid value',
    ]);
  });

  it.each([
    ['a duplicate key', '[butler]\nport = 1\nport = 2', 'line 3, column 1'],
    ['a duplicate table', '[butler]\n[butler]', 'line 2'],
    ['a NUL', '[butler]\nname = "a\u0000b"', 'line 2'],
    ['arrays too deep', `a = ${'['.repeat(100_000)}`, 'line 1'],
    ['inline tables too deep', `a = ${'{ a = '.repeat(50_000)}`, 'line 1'],
  ])('with %s are refused with their line', (_, toml, position) => {
    const problems = problemsOf(toml);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`butler.toml must be valid TOML; ${position}`);
  });

  it('with an escaped NUL in a path or a host are refused', () => {
    expect(problemsOf('[butler]\nhome = "/data\\u0000"\nhost = "a\\u0000"')).toHaveLength(2);
  });

  it('with a byte order mark are read', () => {
    expect(load('\uFEFF[butler]\nport = 9000').config.butler.port).toBe(9000);
  });

  it('with Windows line ends are read', () => {
    expect(load('[butler]\r\nport = 9000\r\n').config.butler.port).toBe(9000);
  });

  it('that are not UTF-8 are refused', () => {
    expect(problemsOf(Buffer.from('[butler]\nname = "é"', 'latin1'))).toEqual([
      'butler.toml must be UTF-8 text (got other bytes)',
    ]);
  });

  it('above 1 MiB are refused unread', () => {
    expect(problemsOf(`#${'x'.repeat(1024 * 1024)}`)).toEqual([
      'butler.toml must be at most 1048576 bytes (got 1048577 bytes)',
    ]);
  });

  it('with more unknown keys than fit a message show the first twenty of a table', () => {
    const unknown = Array.from({ length: 60_000 }, (_, index) => `k${index} = 1`).join('\n');
    const problems = problemsOf(`${unknown}\n[butler]\nzebra = 1`);
    expect(problems).toHaveLength(22);
    expect(problems.at(-1)).toBe('butler.toml: and 59980 more unknown keys at the top of the file');
    expect(problems[0]).toContain('butler.zebra: unknown key');
  });

  it('with endless dotted keys are refused like any other', () => {
    expect(problemsOf(`butler.db.name${'.a'.repeat(100_000)} = 1`)).toEqual([
      expect.stringMatching(/butler\.db\.name must be .* \(got a table\)$/),
    ]);
    expect(problemsOf(`x${'.a'.repeat(100_000)} = 1`)).toEqual([expect.stringMatching(/: x: unknown key/)]);
  });

  it('with an endless value show the beginning of it', () => {
    const [problem] = problemsOf(`[butler.log]\nlevel = "${'a:/?'.repeat(200_000)}"`);
    expect(problem?.length).toBeLessThan(400);
    expect(problem).toContain('(800002 characters)');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'that name %s change nothing but fail',
    (name) => {
      for (const toml of [`${name} = 1`, `[butler.${name}]\nport = 1`, `[${name}]\npolluted = 1`]) {
        expect(problemsOf(toml)).toEqual([expect.stringContaining(`${name}: unknown key`)]);
      }
      expect(problemsOf(`[butler.port.${name}]\nx = 1`)).toEqual([
        expect.stringMatching(/port must be .* \(got a table\)$/),
      ]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );
});
