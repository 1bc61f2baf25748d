import type { z } from 'zod';
import {
  commandLine,
  cron,
  databaseName,
  directory,
  file,
  flag,
  host,
  httpUrl,
  line,
  masterKey,
  modelId,
  numberAbove,
  numberBetween,
  oneOf,
  origins,
  postgresUrl,
  predicateNames,
  predicatePatterns,
  secret,
  someOf,
  variableNames,
  wholeNumber,
} from './kinds.ts';
import { toCamelCase } from '../shared/names.ts';
import { toolGroups } from './tool-groups.ts';
import { listSettings, namedTables, setting, table } from './setting.ts';

/*
 * Every key of butler.toml, under the name it has there. Validation, defaults, types, environment variables and the
 * table in docs/configuration.md all come from this file.
 */

/** The text search configurations of PostgreSQL 14, which the migrations know too. */
const textSearchLanguages = `
  arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish italian
  lithuanian nepali norwegian portuguese romanian russian serbian simple spanish swedish tamil turkish yiddish`
  .trim()
  .split(/\s+/);

const days = 36_500;
const entries = wholeNumber(1, 1_000_000_000);
const count = wholeNumber(1, 1_000_000);
const share = numberBetween(0, 1);
const timeoutMs = wholeNumber(100, 600_000);

const job = (defaults: { cron: string; enabled?: boolean }) =>
  table({
    cron: setting(cron, { default: defaults.cron, description: 'When the job starts, in UTC' }),
    enabled: setting(flag, { default: defaults.enabled ?? true, description: 'Whether the schedule starts the job' }),
  });

const embedding = table({
  provider: setting(oneOf('transformers', 'hashing'), {
    default: 'transformers',
    environment: 'BUTLER_MEMORY_EMBEDDING_PROVIDER',
    description: 'Embedding provider: the model, or a hash of the words that needs no model',
  }),
  dtype: setting(oneOf('fp32', 'fp16', 'q8', 'q4'), {
    default: 'q8',
    description: 'Precision of the weights of the model',
  }),
  threads: setting(wholeNumber(1, 64), { default: 1, description: 'Threads that one inference uses' }),
  query_cache_entries: setting(wholeNumber(0, 1_000_000), {
    default: 1000,
    description: 'Query vectors kept in memory; 0 keeps none',
  }),
  allow_download: setting(flag, {
    default: false,
    description: 'Whether a model that is not in the package may be downloaded from the hub',
  }),
  models_directory: setting(directory, {
    environment: 'BUTLER_MEMORY_MODELS_DIRECTORY',
    description: 'Directory searched for models first, each below its name, such as Xenova/gte-small',
  }),
});

const facts = table(
  {
    several_values: setting(predicateNames, {
      default: ['likes', 'dislikes', 'speaks', 'allergic_to', 'has_child', 'member_of'],
      description:
        'Predicates that hold several values, so that a new value does not supersede another; names of the same group count too. [] gives every predicate one value',
    }),
    retrieval_confidence_threshold: setting(share, {
      default: 0.2,
      description: 'Effective confidence below which a fact or rule is not retrieved',
    }),
    expiry_confidence_threshold: setting(share, {
      default: 0.05,
      description: 'Effective confidence below which it expires; below the retrieval threshold',
    }),
  },
  ({ retrieval_confidence_threshold: retrieval, expiry_confidence_threshold: expiry }) =>
    expiry < retrieval
      ? undefined
      : {
          key: 'expiry_confidence_threshold',
          allowed: `below retrieval_confidence_threshold, which is ${retrieval}`,
          given: `${expiry}`,
        },
);

const rules = table({
  promote_to_established: table({
    min_successes: setting(count, { default: 5, description: 'Successes a candidate rule needs' }),
    min_effectiveness: setting(share, { default: 0.6, description: 'Effectiveness a candidate rule needs' }),
  }),
  promote_to_proven: table({
    min_successes: setting(count, { default: 15, description: 'Successes an established rule needs' }),
    min_effectiveness: setting(share, { default: 0.8, description: 'Effectiveness an established rule needs' }),
    min_age_days: setting(numberBetween(0, days), { default: 30, description: 'Age an established rule needs' }),
  }),
  harmful_to_antipattern: table({
    min_harmful: setting(count, { default: 3, description: 'Harmful uses that make a rule an anti-pattern' }),
    max_effectiveness: setting(share, { default: 0.3, description: 'Effectiveness above which it stays a rule' }),
  }),
});

const weight = (value: number, of: string) =>
  setting(share, { default: value, description: `Weight of ${of} in the score; the four weights sum to 1` });

const scoreWeights = table(
  {
    relevance: weight(0.4, 'relevance'),
    importance: weight(0.3, 'importance'),
    recency: weight(0.2, 'recency'),
    confidence: weight(0.1, 'confidence'),
  },
  (weights) => {
    const sum = Object.values(weights).reduce((total, value) => total + value, 0);
    const terms = Object.entries(weights).map(([name, value]) => `${name} ${value}`);
    return Math.abs(sum - 1) <= 1e-6
      ? undefined
      : { allowed: 'four weights that sum to 1', given: `${terms.join(' + ')} = ${Number(sum.toPrecision(9))}` };
  },
);

const contextShare = (value: number, of: string) =>
  setting(share, { default: value, description: `Share of a context's tokens that ${of} may take; at most 1 in sum` });

const assembledContext = table(
  {
    tokenizer: setting(oneOf('o200k', 'cl100k', 'model'), {
      default: 'o200k',
      description: 'What counts the tokens of a context: an encoding, or the tokenizer of the embedding model',
    }),
    facts_share: contextShare(0.5, 'facts'),
    rules_share: contextShare(0.3, 'rules'),
    episodes_share: contextShare(0.2, 'recent episodes'),
    include_episodes: setting(flag, {
      default: true,
      description: 'Whether a context has recent episodes when its caller does not say',
    }),
    recent_episodes: setting(wholeNumber(1, 1000), {
      default: 10,
      description: 'Newest episodes of the butler that a context may have',
    }),
  },
  ({ facts_share: forFacts, rules_share: forRules, episodes_share: forEpisodes }) => {
    const sum = forFacts + forRules + forEpisodes;
    const given = `facts ${forFacts} + rules ${forRules} + episodes ${forEpisodes} = ${Number(sum.toPrecision(9))}`;
    return sum <= 1 + 1e-6 ? undefined : { allowed: 'three shares that sum to at most 1', given };
  },
);

const retrieval = table({
  default_limit: setting(wholeNumber(1, 1000), { default: 20, description: 'Results when a search names no limit' }),
  default_mode: setting(oneOf('hybrid', 'semantic', 'keyword'), {
    default: 'hybrid',
    description: 'Search mode when a search names none',
  }),
  language: setting(oneOf(...textSearchLanguages), {
    default: 'english',
    description: 'Language whose word forms and stop words the keyword channel knows',
  }),
  candidates: setting(wholeNumber(10, 1000), {
    default: 60,
    description: 'Memories of a type that each channel brings, at least; more for a higher limit or token budget',
  }),
  exact_scan_rows: setting(wholeNumber(0, 100_000), {
    default: 700,
    description:
      'Rows of a type up to which each is compared, at least; more beside many tenants. 0 always uses indexes',
  }),
  rrf_k: setting(numberBetween(1, 1000), {
    default: 60,
    description: 'The k of reciprocal rank fusion: 1 / (k + rank), summed over both channels',
  }),
  rerank: setting(oneOf('features', 'cross-encoder', 'off'), {
    default: 'features',
    description:
      'What orders the fused candidates of a hybrid search: weighted features, these and then a cross-encoder, or their ranks alone',
  }),
  cross_encoder: table({
    model: setting(modelId, {
      default: 'Xenova/ms-marco-MiniLM-L-6-v2',
      description: 'The cross-encoder: a model for sequence classification with a single output; the package has none',
    }),
    dtype: setting(oneOf('fp32', 'fp16', 'q8', 'q4'), {
      default: 'q8',
      description: 'Precision of its weights',
    }),
    candidates: setting(wholeNumber(1, 50), { default: 50, description: 'Matches that it reads, the best ones' }),
  }),
  intent_routing: setting(flag, {
    default: true,
    description: 'Whether the kind of question (identity, preference, procedure, episode) weighs what is found',
  }),
  recency_half_life_days: setting(numberAbove(0, days), {
    default: 30,
    description: 'Days since the last reference, or else creation, after which recency is one half',
  }),
  context_token_budget: setting(wholeNumber(0, 1_000_000), {
    default: 3000,
    description: 'Tokens of an assembled context when the caller names no budget',
  }),
  context: assembledContext,
  receipt_ttl_days: setting(numberAbove(0, days), {
    default: 30,
    description: 'Days for which the receipt of a context, recall or search is kept',
  }),
  receipt_candidates: setting(wholeNumber(0, 1000), {
    default: 50,
    description:
      'Memories that were ranked and not shown of which a receipt tells, the best ones; the others are counted',
  }),
  score_weights: scoreWeights,
});

const llm = table(
  {
    provider: setting(oneOf('openai-compatible', 'anthropic'), {
      default: 'openai-compatible',
      description: 'Protocol of the model server; most, local ones too, speak that of OpenAI',
    }),
    base_url: setting(httpUrl, {
      description: 'URL of its API, with the version; by default that of Anthropic for "anthropic"',
    }),
    model: setting(line(200), { description: 'Name of the model, as its server knows it' }),
    api_key: setting(secret, {
      environment: 'BUTLER_MEMORY_LLM_API_KEY',
      description: 'API key; better in the environment than in a file',
    }),
    structured_output: setting(oneOf('schema', 'json', 'text'), {
      description: 'Format that the server enforces; by default schema for "anthropic" and json for the others',
    }),
    temperature: setting(numberBetween(0, 2), {
      default: 0,
      description: 'Randomness of the answers; some models accept only 1',
    }),
    timeout_seconds: setting(wholeNumber(1, 300), {
      default: 120,
      description: 'Seconds until a request times out',
    }),
    max_output_tokens: setting(wholeNumber(100, 200_000), {
      default: 4000,
      description: 'Maximum tokens of an answer',
    }),
    requests_per_minute: setting(wholeNumber(1, 10_000), {
      default: 20,
      description: 'Maximum requests per minute and process',
    }),
    input_cost_per_million: setting(numberBetween(0, 100_000), {
      default: 0,
      description: 'Dollars per million tokens of prompts',
    }),
    output_cost_per_million: setting(numberBetween(0, 100_000), {
      default: 0,
      description: 'Dollars per million tokens of answers',
    }),
    max_cost_per_day_usd: setting(numberAbove(0, 1_000_000), {
      description: 'Dollars that all tenants together may spend in a UTC day; unlimited by default',
    }),
  },
  ({ max_cost_per_day_usd: ceiling, input_cost_per_million: input, output_cost_per_million: output }) =>
    ceiling === undefined || input + output > 0
      ? undefined
      : {
          key: 'max_cost_per_day_usd',
          allowed: 'left out while input_cost_per_million and output_cost_per_million are both 0',
          given: `${ceiling}`,
        },
);

const command = table({
  command: setting(commandLine, {
    description: 'Program and arguments; it reads the prompt from standard input and writes the answer',
  }),
  environment: setting(variableNames, {
    default: [],
    description: 'Environment variables passed to it besides PATH, HOME and LANG',
  }),
  timeout_seconds: setting(wholeNumber(1, 3600), {
    default: 300,
    description: 'Seconds until it is killed, with all its children',
  }),
  max_output_bytes: setting(wholeNumber(1000, 100_000_000), {
    default: 1_000_000,
    description: 'Maximum bytes of its answer',
  }),
});

const consolidation = table(
  {
    engine: setting(oneOf('patterns', 'llm', 'command', 'agent', 'off'), {
      default: 'patterns',
      description: 'Engine that turns episodes into facts and rules; agent waits for an agent to claim them',
    }),
    batch_size: setting(wholeNumber(1, 1000), {
      default: 100,
      description: 'Maximum episodes of a consolidation run, all of one butler',
    }),
    backlog_episodes: setting(wholeNumber(1, 1_000_000), {
      default: 50,
      description: 'Pending episodes of a tenant that start a consolidation before its schedule does',
    }),
    lease_seconds: setting(wholeNumber(1, 86_400), {
      default: 300,
      description: 'Seconds of the lease of a run on its episodes; renewed while its engine works',
    }),
    max_attempts: setting(wholeNumber(1, 100), {
      default: 5,
      description: 'Failures after which an episode becomes a dead letter',
    }),
    retry_base_seconds: setting(wholeNumber(0, 86_400), {
      default: 60,
      description: 'Seconds until the first retry; each further one waits twice as long',
    }),
    max_prompt_tokens: setting(wholeNumber(2500, 1_000_000), {
      default: 16_000,
      description: 'Maximum tokens of the prompt of a run',
    }),
    llm,
    command,
  },
  ({ engine, llm: model, command: program }) => {
    const needs = (key: string, value: unknown): { key: string; allowed: string; given: string } | undefined =>
      value === undefined ? { key, allowed: `set while engine is "${engine}"`, given: 'nothing' } : undefined;
    if (engine === 'command') return needs('command.command', program.command);
    if (engine !== 'llm') return undefined;
    return (
      needs('llm.model', model.model) ??
      (model.provider === 'anthropic' ? undefined : needs('llm.base_url', model.base_url))
    );
  },
);

const memory = table({
  embedding_model: setting(modelId, {
    default: 'Xenova/all-MiniLM-L6-v2',
    description: 'Model that makes the vectors; all-MiniLM-L6-v2 alone means the default',
  }),
  embedding_dimensions: setting(wholeNumber(1, 2000), { default: 384, description: 'Length of the vectors it makes' }),
  idempotency_ttl_days: setting(numberAbove(0, days), {
    default: 30,
    description: 'Days an idempotency key is remembered; sent again later, it is a new write',
  }),
  embedding,
  episodes: table({
    default_ttl_days: setting(numberAbove(0, days), {
      default: 7,
      description: 'Days until an episode expires',
    }),
    max_entries: setting(entries, { default: 10_000, description: 'Episodes kept per tenant' }),
    pending_grace_days: setting(numberBetween(0, days), {
      default: 7,
      description: 'Days an expired episode is kept while it waits to be consolidated',
    }),
    nothing_found_ttl_days: setting(numberAbove(0, days), {
      default: 30,
      description: 'Days until an episode expires of which consolidation kept nothing, if that is later',
    }),
  }),
  facts,
  rules,
  retrieval,
  consolidation,
  eden: table({
    max_entries: setting(entries, { default: 1000, description: 'Memories of the eden generation kept per butler' }),
    promote_after_refs: setting(count, { default: 3, description: 'References that promote from eden to mid' }),
    promote_after_hours: setting(numberBetween(0, days * 24), {
      default: 6,
      description: 'Minimum age in hours before promotion from eden',
    }),
  }),
  mid: table({
    max_entries: setting(entries, { default: 5000, description: 'Memories of the mid generation kept per butler' }),
    promote_after_refs: setting(count, { default: 10, description: 'References that promote from mid to long' }),
    promote_after_days: setting(numberBetween(0, days), {
      default: 7,
      description: 'Minimum age in days before promotion from mid',
    }),
    promote_after_sessions: setting(wholeNumber(0, 100), {
      default: 2,
      description: 'Minimum distinct sessions that it was returned to before promotion from mid',
    }),
  }),
  long: table({
    max_entries: setting(entries, { default: 5000, description: 'Memories of the long generation kept per butler' }),
  }),
});

const db = table({
  name: setting(databaseName, {
    default: 'butler_memory',
    description: 'Directory of the embedded database below butler.home; database on a server whose URL names none',
  }),
  url: setting(postgresUrl, {
    environment: 'DATABASE_URL',
    description: 'PostgreSQL server to use instead of the embedded database',
  }),
  migration_url: setting(postgresUrl, {
    environment: 'MIGRATION_DATABASE_URL',
    description: 'Login that owns the tables, if that of butler.db.url does not',
  }),
  pool_size: setting(wholeNumber(1, 200), { default: 10, description: 'Maximum connections to the database' }),
  connect_timeout_ms: setting(timeoutMs, { default: 5000, description: 'Milliseconds to wait for a connection' }),
  statement_timeout_ms: setting(timeoutMs, { default: 15_000, description: 'Maximum milliseconds of a statement' }),
  transaction_timeout_ms: setting(timeoutMs, { default: 30_000, description: 'Maximum milliseconds of a transaction' }),
});

const graphql = table({
  introspection: setting(flag, {
    description: 'Whether clients may query the schema; by default in development only',
  }),
  graphiql: setting(flag, {
    description: 'Whether /graphql serves GraphiQL to browsers; by default in development only',
  }),
});

const mcp = table({
  tool_groups: setting(someOf(...toolGroups), {
    default: [...toolGroups],
    description: 'Tool groups that are served; a connection may ask for fewer',
  }),
  sessions: setting(flag, {
    default: false,
    description: 'Whether clients of /mcp get sessions; their requests must then reach the same process',
  }),
  session_idle_seconds: setting(wholeNumber(1, 604_800), {
    default: 1800,
    description: 'Seconds until an idle session without an open stream ends',
  }),
  max_sessions: setting(wholeNumber(1, 100_000), {
    default: 1000,
    description: 'Maximum sessions; one more ends the session that was idle the longest',
  }),
});

const auth = table({
  mode: setting(oneOf('none', 'required'), {
    default: 'none',
    environment: 'BUTLER_MEMORY_AUTH',
    description: 'Whether callers must authenticate; none serves the loopback address alone',
  }),
  access_retention_days: setting(wholeNumber(1, 36_500), {
    default: 365,
    description: 'Days the access records are kept: reads of admins, and requests across tenants',
  }),
  jwt: table(
    {
      issuer: setting(httpUrl, {
        description: 'Issuer (iss) of accepted JSON Web Tokens; without it none are accepted',
      }),
      audience: setting(line(500), {
        description: 'Audience (aud) of the tokens: the name of this server at the issuer',
      }),
      jwks_url: setting(httpUrl, { description: "URL of the issuer's public keys (JWKS)" }),
      key_file: setting(file, { description: 'Public key of the issuer, in PEM or JWK form, instead of jwks_url' }),
      algorithm: setting(
        oneOf('RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'),
        { default: 'RS256', description: 'Algorithm of the key in key_file' },
      ),
      clock_tolerance_seconds: setting(wholeNumber(0, 600), {
        default: 30,
        description: "Tolerated difference to the issuer's clock, in seconds",
      }),
      tenant_claim: setting(line(100), { default: 'tenant', description: 'Claim that names the tenant' }),
      butler_claim: setting(line(100), { default: 'butler', description: 'Claim that names the butler' }),
      role_claim: setting(line(100), { default: 'role', description: 'Claim that names the role; butler without it' }),
      across_claim: setting(line(100), {
        default: 'across',
        description: 'Claim that lists the other tenants that an admin may enter, or says "all"',
      }),
      across_write_claim: setting(line(100), {
        default: 'across_write',
        description: 'Claim that is true if the admin may also write in them',
      }),
    },
    ({ issuer, audience, jwks_url: jwks, key_file: key }) => {
      const missing = (name: string): { key: string; allowed: string; given: string } => ({
        key: name,
        allowed: 'set while issuer is set',
        given: 'nothing',
      });
      if (issuer === undefined) return undefined;
      if (audience === undefined) return missing('audience');
      return jwks === undefined && key === undefined ? missing('jwks_url') : undefined;
    },
  ),
});

const limits = table({
  requests_per_minute: setting(wholeNumber(1, 10_000_000), {
    default: 6000,
    description: 'Sustained rate of a caller: requests to /graphql and /mcp, operations over graphql-ws',
  }),
  burst: setting(wholeNumber(1, 10_000_000), {
    default: 6000,
    description: 'Requests that an idle caller may send at once',
  }),
  max_concurrent_per_caller: setting(wholeNumber(1, 100_000), {
    default: 32,
    description: 'Concurrent requests of a caller; more wait in the queue',
  }),
  max_concurrent: setting(wholeNumber(1, 100_000), {
    default: 128,
    description: 'Concurrent requests of this process; more wait in the queue',
  }),
  max_queued_per_caller: setting(wholeNumber(0, 100_000), {
    default: 256,
    description: 'Queued requests of a caller; one more is answered with QUEUE_FULL (429)',
  }),
  max_queued: setting(wholeNumber(0, 100_000), {
    default: 1024,
    description: 'Queued requests of this process; one more is answered with QUEUE_FULL (503)',
  }),
  max_feeds_per_caller: setting(wholeNumber(1, 100_000), {
    default: 64,
    description: 'Open subscriptions of a caller, and its connections of graphql-ws',
  }),
  max_feeds: setting(wholeNumber(1, 100_000), {
    default: 512,
    description: 'Open subscriptions of this process',
  }),
  max_connections: setting(wholeNumber(1, 100_000), {
    default: 2048,
    description: 'Open connections of this process; those beyond are closed at once',
  }),
  request_timeout_seconds: setting(wholeNumber(1, 3600), {
    default: 60,
    description: 'Deadline of a request, at most half of it in the queue; then TIMEOUT. Subscriptions have none',
  }),
});

const encryption = table({
  predicates: setting(predicatePatterns, {
    default: [],
    description: 'Predicates whose facts are encrypted: content, tags and metadata',
  }),
  master_key: setting(masterKey, {
    environment: 'BUTLER_MEMORY_MASTER_KEY',
    description: 'Key that wraps the data keys; better in the environment or in master_key_file',
  }),
  master_key_file: setting(file, {
    environment: 'BUTLER_MEMORY_MASTER_KEY_FILE',
    description: 'File with the master key in base64, instead of master_key; only its owner may read it',
  }),
  previous_master_key: setting(masterKey, {
    environment: 'BUTLER_MEMORY_PREVIOUS_MASTER_KEY',
    description: 'Previous master key, until rotate-keys has wrapped the data keys again',
  }),
  previous_master_key_file: setting(file, {
    environment: 'BUTLER_MEMORY_PREVIOUS_MASTER_KEY_FILE',
    description: 'File with the previous master key, instead of previous_master_key',
  }),
});

const redactionMode = oneOf('off', 'mask', 'hash', 'refuse');

const redactedKinds = {
  secrets: 'Passwords, keys and tokens',
  cards: 'Payment card numbers',
  ibans: 'Bank account numbers',
  national_ids: 'National identity numbers',
  emails: 'E-mail addresses',
  phones: 'Phone numbers',
};

type RedactedKind = keyof typeof redactedKinds;

const kindOf = (kind: RedactedKind, value: 'off' | 'mask') =>
  setting(redactionMode, {
    default: value,
    description: `${redactedKinds[kind]}: store, replace by a mark, by a mark with a digest, or refuse the write`,
  });

const redaction = table({
  secrets: kindOf('secrets', 'mask'),
  cards: kindOf('cards', 'mask'),
  ibans: kindOf('ibans', 'mask'),
  national_ids: kindOf('national_ids', 'mask'),
  emails: kindOf('emails', 'off'),
  phones: kindOf('phones', 'off'),
  hash_key: setting(secret, {
    environment: 'BUTLER_MEMORY_REDACTION_KEY',
    description: 'Key of the digests of "hash"; keep it apart from the database',
  }),
});

const overridden = (kind: RedactedKind) => setting(redactionMode, { description: redactedKinds[kind] });

const daysKept = numberAbove(0, days);

const keptKinds = {
  episodes: 'Maximum days an episode is kept, consolidated or not',
  facts: 'Days until a superseded, expired or forgotten fact is removed, with the facts it superseded',
  rules: 'Days until a disabled, expired or forgotten rule is removed',
  receipts: 'Maximum days a receipt is kept',
  job_runs: 'Days a finished job run is kept',
  consolidation_runs: 'Days a finished consolidation run is kept',
};

/** At least two days: the daily budget of the language model is summed over the runs of a day. */
const runDaysKept = numberBetween(2, days);

const retention = table({
  episodes: setting(daysKept, { description: keptKinds.episodes }),
  facts: setting(daysKept, { description: keptKinds.facts }),
  rules: setting(daysKept, { description: keptKinds.rules }),
  receipts: setting(daysKept, { description: keptKinds.receipts }),
  job_runs: setting(daysKept, { default: 30, description: keptKinds.job_runs }),
  consolidation_runs: setting(runDaysKept, { description: keptKinds.consolidation_runs }),
});

/** The keys that a tenant may override. */
const tenant = table({
  redaction: table({
    secrets: overridden('secrets'),
    cards: overridden('cards'),
    ibans: overridden('ibans'),
    national_ids: overridden('national_ids'),
    emails: overridden('emails'),
    phones: overridden('phones'),
  }),
  retention: table({
    episodes: setting(daysKept, { description: keptKinds.episodes }),
    facts: setting(daysKept, { description: keptKinds.facts }),
    rules: setting(daysKept, { description: keptKinds.rules }),
    receipts: setting(daysKept, { description: keptKinds.receipts }),
    job_runs: setting(daysKept, { description: keptKinds.job_runs }),
    consolidation_runs: setting(runDaysKept, { description: keptKinds.consolidation_runs }),
  }),
});

const butler = table({
  name: setting(line(100), { default: 'memory', description: 'Name of this butler' }),
  description: setting(line(1000), {
    default: 'Shared institutional memory: stores, searches, consolidates and maintains knowledge across all butlers',
    description: 'Purpose of this butler, shown to MCP clients',
  }),
  host: setting(host, { default: '127.0.0.1', environment: 'HOST', description: 'Address to listen on' }),
  port: setting(wholeNumber(0, 65_535), {
    default: 8150,
    environment: 'PORT',
    description: 'Port to listen on; 0 takes any free one',
  }),
  public_url: setting(httpUrl, {
    description: 'Address by which clients reach this server, if it is another: behind a proxy, for example',
  }),
  allowed_origins: setting(origins, {
    default: [],
    description: 'Origins of other sites whose pages may call this server (CORS)',
  }),
  home: setting(directory, {
    default: '~/.butler-memory',
    environment: 'BUTLER_MEMORY_HOME',
    description: 'Data directory; a relative path starts at the working directory',
  }),
  environment: setting(oneOf('development', 'production'), {
    default: 'development',
    environment: 'NODE_ENV',
    fromEnvironment: (text) => (text === 'production' ? text : 'development'),
    description: 'Any NODE_ENV other than production means development',
  }),
  shutdown_grace_seconds: setting(wholeNumber(1, 600), {
    default: 10,
    description: 'Seconds for running requests to finish at shutdown',
  }),
  job_workers: setting(wholeNumber(1, 32), {
    default: 2,
    description: 'Jobs that this process runs at the same time',
  }),
  auth,
  db,
  graphql,
  mcp,
  limits,
  encryption,
  redaction,
  retention,
  tenants: namedTables(tenant, {
    allowed: 'tables by the names of tenants, each with the tables redaction and retention',
    description: 'Overrides of a tenant: [butler.tenants."a name".redaction] and [….retention], with their keys',
  }),
  log: table({
    level: setting(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), {
      default: 'info',
      environment: 'LOG_LEVEL',
      description: 'Minimum level that is logged',
    }),
  }),
  schedule: table({
    consolidate: job({ cron: '0 */6 * * *' }),
    decay_sweep: job({ cron: '0 3 * * *' }),
    episode_cleanup: job({ cron: '0 4 * * *' }),
    consolidate_backlog: job({ cron: '*/5 * * * *' }),
    promote: job({ cron: '15 3 * * *' }),
    evict: job({ cron: '30 3 * * *' }),
    reembed: job({ cron: '45 * * * *' }),
    refresh_projections: job({ cron: '10 0 * * *' }),
    purge_receipts: job({ cron: '15 4 * * *' }),
    maintain_storage: job({ cron: '30 4 * * *' }),
    rotate_keys: job({ cron: '0 5 1 * *', enabled: false }),
  }),
  memory,
});

export const fileSchema = table({ butler });

export const settings = listSettings(fileSchema);

/** The names of tenants are not known here, and stay as they are. */
type CamelCase<Name> = string extends Name
  ? Name
  : Name extends `${infer Head}_${infer Tail}`
    ? `${Head}${Capitalize<CamelCase<Tail>>}`
    : Name;

type Camel<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value as CamelCase<Name>]: Camel<Value[Name]> }
    : Value;

type Butler = Camel<z.output<typeof butler>>;
type Section =
  | 'auth'
  | 'db'
  | 'graphql'
  | 'mcp'
  | 'limits'
  | 'encryption'
  | 'redaction'
  | 'retention'
  | 'log'
  | 'schedule'
  | 'memory';

/** The settings of one process: [butler] itself, and each table directly below it. Deeply frozen. */
export interface Config extends Pick<Butler, Section> {
  readonly butler: Omit<Butler, Section>;
}

/** Returns the path of a key in the configuration object: butler.db.pool_size is config.db.poolSize. */
export function configPath(key: string): string[] {
  const names = key.split('.').map(toCamelCase);
  return names.length === 2 ? names : names.slice(1);
}
