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

/** Those that PostgreSQL has since version 14, as the migrations know them. */
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
    description: 'Who turns text into vectors: the model, or a hash of the words that needs no model',
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
  max_texts_in_flight: setting(wholeNumber(1, 10_000), {
    default: 2,
    description: "Texts handed to the model's thread at one time; a query waits for at most so many",
  }),
  allow_download: setting(flag, {
    default: false,
    description: 'Whether a model that the package does not carry may be fetched from the hub',
  }),
  models_directory: setting(directory, {
    environment: 'BUTLER_MEMORY_MODELS_DIRECTORY',
    description: 'Where models are looked for first, each in the directory of its name, such as Xenova/gte-small',
  }),
});

const facts = table(
  {
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

const channelWeights = (defaults: { semantic: number; keyword: number }, of: string) =>
  table(
    {
      semantic: setting(share, {
        default: defaults.semantic,
        description: `Weight of the semantic channel in a hybrid search, for ${of}`,
      }),
      keyword: setting(share, {
        default: defaults.keyword,
        description: `Weight of the keyword channel in a hybrid search, for ${of}`,
      }),
    },
    ({ semantic, keyword }) =>
      semantic + keyword > 0
        ? undefined
        : {
            allowed: 'two weights of which one at least is above 0',
            given: `semantic ${semantic}, keyword ${keyword}`,
          },
  );

const neighbourWeight = (value: number, where: string) =>
  setting(share, { default: value, description: `Share at which a word counts for an episode that stands ${where}` });

const maturityWeight = (value: number, maturity: string) =>
  setting(numberBetween(0, 2), { default: value, description: `What the score of ${maturity} is multiplied by` });

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
    identity_share: setting(share, {
      default: 0.4,
      description: 'Share of what facts may take that is kept for who the user is, whatever the prompt is about',
    }),
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
  fusion: setting(oneOf('weighted', 'rrf'), {
    default: 'weighted',
    description: 'How a hybrid search joins its channels: by their scores, or by reciprocal ranks',
  }),
  rrf_k: setting(numberBetween(1, 1000), {
    default: 60,
    description: 'The k of reciprocal rank fusion: weight / (k + rank)',
  }),
  channel_weights: channelWeights({ semantic: 0.35, keyword: 0.65 }, 'episodes'),
  learned_channel_weights: channelWeights({ semantic: 0.8, keyword: 0.2 }, 'facts and rules'),
  bm25: table({
    k1: setting(numberBetween(0, 10), { default: 0.9, description: 'How much further occurrences of a word add' }),
    b: setting(share, { default: 0.4, description: 'How much the length of a memory counts against it' }),
  }),
  neighbour_weights: table({
    previous: neighbourWeight(0.6, 'in the episode before it'),
    second_previous: neighbourWeight(0.5, 'in the second episode before it'),
    next: neighbourWeight(0.4, 'in the episode after it'),
    second_next: neighbourWeight(0.2, 'in the second episode after it'),
    reply: neighbourWeight(0.95, 'in the episode before it, if that one asks something'),
  }),
  session_weight: setting(share, {
    default: 0.5,
    description: 'Share of the score of an episode that hangs on how near its session comes, in weighted fusion',
  }),
  question_weight: setting(share, {
    default: 0.9,
    description: 'What the score of an episode that asks something is multiplied by, in weighted fusion',
  }),
  rerank: table({
    enabled: setting(flag, {
      default: false,
      description: 'Whether a cross-encoder reads the best matches of a hybrid search together with the query',
    }),
    model: setting(modelId, {
      default: 'Xenova/ms-marco-MiniLM-L-6-v2',
      description: 'That model: one for sequence classification with a single output; the package carries none',
    }),
    dtype: setting(oneOf('fp32', 'fp16', 'q8', 'q4'), {
      default: 'q8',
      description: 'Precision of its weights',
    }),
    candidates: setting(wholeNumber(1, 50), { default: 50, description: 'Matches that it reads, the best ones' }),
    weight: setting(share, { default: 0.5, description: 'Share of what it says in the score' }),
  }),
  relevance_floor: setting(share, {
    default: 0.1,
    description: 'Relevance, as a share of the best, below which recall leaves a memory out',
  }),
  min_similarity: setting(share, {
    default: 0.15,
    description: 'Cosine similarity that recall asks of a memory which shares no word with the topic',
  }),
  intent_routing: setting(flag, {
    default: true,
    description: 'Whether the kind of question (identity, preference, procedure, episode) weighs what is found',
  }),
  cluster_limit: setting(count, {
    default: 3,
    description: 'Facts of one subject and predicate that a recall brings while others wait',
  }),
  duplicate_similarity: setting(share, {
    default: 0.9,
    description: 'Share of common words from which a recall takes two memories for one',
  }),
  recency_half_life_days: setting(numberAbove(0, days), {
    default: 30,
    description: 'Days since the last reference, or else creation, after which recency is one half',
  }),
  maturity_weights: table({
    candidate: maturityWeight(0.8, 'a candidate rule'),
    established: maturityWeight(1, 'an established rule'),
    proven: maturityWeight(1.1, 'a proven rule'),
    anti_pattern: maturityWeight(1, 'a warning'),
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
      description: 'Which protocol the model speaks; most servers, local ones too, speak that of OpenAI',
    }),
    base_url: setting(httpUrl, {
      description: 'Where its API is, with the version; left out, that of Anthropic for "anthropic"',
    }),
    model: setting(line(200), { description: 'Name of the model, as its server knows it' }),
    api_key: setting(secret, {
      environment: 'BUTLER_MEMORY_LLM_API_KEY',
      description: 'Key that the server asks for; better in the environment than in a file',
    }),
    structured_output: setting(oneOf('schema', 'json', 'text'), {
      description:
        'What the server is asked to hold the answer to; left out, schema for "anthropic" and json for the others',
    }),
    temperature: setting(numberBetween(0, 2), {
      default: 0,
      description: 'Randomness of the answers; some models take no other than 1',
    }),
    timeout_seconds: setting(wholeNumber(1, 300), {
      default: 120,
      description: 'Seconds after which a request is given up',
    }),
    max_output_tokens: setting(wholeNumber(100, 200_000), {
      default: 4000,
      description: 'Tokens of an answer, at most',
    }),
    requests_per_minute: setting(wholeNumber(1, 10_000), {
      default: 20,
      description: 'Requests that one process starts within a minute, at most',
    }),
    input_cost_per_million: setting(numberBetween(0, 100_000), {
      default: 0,
      description: 'Dollars for a million tokens of prompts',
    }),
    output_cost_per_million: setting(numberBetween(0, 100_000), {
      default: 0,
      description: 'Dollars for a million tokens of answers',
    }),
    max_cost_per_day_usd: setting(numberAbove(0, 1_000_000), {
      description: 'Dollars that all tenants together may spend in a day of UTC; left out, there is no limit',
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
    description: 'Program that reads the prompt from its input and writes the answer, with its arguments',
  }),
  environment: setting(variableNames, {
    default: [],
    description: 'Environment variables that it gets besides PATH, HOME and LANG',
  }),
  timeout_seconds: setting(wholeNumber(1, 3600), {
    default: 300,
    description: 'Seconds after which it is ended, with all it started',
  }),
  max_output_bytes: setting(wholeNumber(1000, 100_000_000), {
    default: 1_000_000,
    description: 'Bytes of its answer, at most',
  }),
});

const consolidation = table(
  {
    engine: setting(oneOf('patterns', 'llm', 'command', 'agent', 'off'), {
      default: 'patterns',
      description: 'What turns episodes into facts and rules; agent waits for an agent to claim them, off does nothing',
    }),
    batch_size: setting(wholeNumber(1, 1000), {
      default: 100,
      description: 'Episodes of one butler that a consolidation run takes at most',
    }),
    backlog_episodes: setting(wholeNumber(1, 1_000_000), {
      default: 50,
      description: 'Episodes of a tenant that wait before it is consolidated at once, whatever the schedule says',
    }),
    lease_seconds: setting(wholeNumber(1, 86_400), {
      default: 300,
      description: 'Seconds for which a run has its episodes to itself; renewed while its engine works',
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
      description: 'Tokens of the prompt that a model or an agent gets for a run, at most',
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
    description: 'Days for which an idempotency key is known: sent again later, it is a new write',
  }),
  embedding,
  episodes: table({
    default_ttl_days: setting(numberAbove(0, days), {
      default: 7,
      description: 'Days until an episode expires when its writer names no time',
    }),
    max_entries: setting(entries, { default: 10_000, description: 'Episodes kept per tenant' }),
    pending_grace_days: setting(numberBetween(0, days), {
      default: 7,
      description: 'Days for which an expired episode that waits to be consolidated is kept',
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
      description: 'Hours of age without which eden is not left',
    }),
  }),
  mid: table({
    max_entries: setting(entries, { default: 500, description: 'Memories of the mid generation kept per butler' }),
    promote_after_refs: setting(count, { default: 10, description: 'References that promote from mid to long' }),
    promote_after_days: setting(numberBetween(0, days), {
      default: 7,
      description: 'Days of age without which mid is not left',
    }),
    promote_after_sessions: setting(wholeNumber(0, 100), {
      default: 2,
      description: 'Distinct sessions that it must have been returned to before it leaves mid; 0 asks for none',
    }),
  }),
  long: table({
    max_entries: setting(entries, { default: 200, description: 'Memories of the long generation kept per butler' }),
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
    description: 'Login that owns the tables, when the login of butler.db.url does not',
  }),
  pool_size: setting(wholeNumber(1, 200), { default: 10, description: 'Connections to the database at one time' }),
  connect_timeout_ms: setting(timeoutMs, { default: 5000, description: 'Milliseconds to wait for a connection' }),
  statement_timeout_ms: setting(timeoutMs, { default: 15_000, description: 'Milliseconds one statement may run' }),
  transaction_timeout_ms: setting(timeoutMs, { default: 30_000, description: 'Milliseconds one transaction may run' }),
});

const graphql = table({
  introspection: setting(flag, {
    description: 'Whether clients may ask for the schema; left out, in development only',
  }),
  graphiql: setting(flag, {
    description: 'Whether /graphql shows its explorer to a browser; left out, in development only',
  }),
});

const mcp = table({
  tool_groups: setting(someOf(...toolGroups), {
    default: [...toolGroups],
    description: 'Groups of tools that are served; a connection may ask for fewer',
  }),
  sessions: setting(flag, {
    default: false,
    description:
      'Whether a client of /mcp that initializes gets a session; such a client must reach the same process again',
  }),
  session_idle_seconds: setting(wholeNumber(1, 604_800), {
    default: 1800,
    description: 'Seconds after which a session ends that sends no request and has no stream open',
  }),
  max_sessions: setting(wholeNumber(1, 100_000), {
    default: 1000,
    description: 'Sessions at one time; one more ends the one that was idle the longest',
  }),
});

const auth = table({
  mode: setting(oneOf('none', 'required'), {
    default: 'none',
    environment: 'BUTLER_MEMORY_AUTH',
    description: 'Whether callers must say who they are; none serves the loopback address alone',
  }),
  access_retention_days: setting(wholeNumber(1, 36_500), {
    default: 365,
    description: 'Days for which it is kept who looked at what: reads of admins, and requests across tenants',
  }),
  jwt: table(
    {
      issuer: setting(httpUrl, { description: 'Who signs the JSON Web Tokens that are taken; none are without it' }),
      audience: setting(line(500), {
        description: 'Whom the tokens must be meant for: this server, by its name there',
      }),
      jwks_url: setting(httpUrl, { description: "Where the issuer's public keys are" }),
      key_file: setting(file, { description: 'Public key of the issuer, in PEM or JWK form, instead of jwks_url' }),
      algorithm: setting(
        oneOf('RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'),
        { default: 'RS256', description: 'What the key in key_file is for' },
      ),
      clock_tolerance_seconds: setting(wholeNumber(0, 600), {
        default: 30,
        description: "Seconds by which the issuer's clock may differ",
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
        description: 'Claim that says true where the admin may also write in them',
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
    description: 'Requests of one caller to /graphql and /mcp, and operations over graphql-ws, in the long run',
  }),
  burst: setting(wholeNumber(1, 10_000_000), {
    default: 6000,
    description: 'Requests that a caller who was quiet may send at once',
  }),
  max_concurrent_per_caller: setting(wholeNumber(1, 100_000), {
    default: 32,
    description: 'Requests of one caller that run at one time; more wait in the queue',
  }),
  max_concurrent: setting(wholeNumber(1, 100_000), {
    default: 128,
    description: 'Requests of all callers that run at one time in this process; more wait in the queue',
  }),
  max_queued_per_caller: setting(wholeNumber(0, 100_000), {
    default: 256,
    description: 'Requests of one caller that wait at one time; one more is answered with QUEUE_FULL (429)',
  }),
  max_queued: setting(wholeNumber(0, 100_000), {
    default: 1024,
    description: 'Requests of all callers that wait at one time; one more is answered with QUEUE_FULL (503)',
  }),
  max_feeds_per_caller: setting(wholeNumber(1, 100_000), {
    default: 64,
    description: 'Feeds that one caller has open at one time; as many connections of graphql-ws',
  }),
  max_feeds: setting(wholeNumber(1, 100_000), {
    default: 512,
    description: 'Feeds that all callers have open at one time, in this process',
  }),
  max_connections: setting(wholeNumber(1, 100_000), {
    default: 2048,
    description: 'Connections to the port at one time; those beyond are closed at once',
  }),
  request_timeout_seconds: setting(wholeNumber(1, 3600), {
    default: 60,
    description:
      'Seconds after which a request is answered with TIMEOUT; it waits in the queue for at most half of them. Feeds are exempt',
  }),
});

const encryption = table({
  predicates: setting(predicatePatterns, {
    default: [],
    description: 'Facts of these predicates are encrypted: their content, tags and metadata; none turns it off',
  }),
  master_key: setting(masterKey, {
    environment: 'BUTLER_MEMORY_MASTER_KEY',
    description: 'Key that the data keys are wrapped by; better in the environment or in master_key_file',
  }),
  master_key_file: setting(file, {
    environment: 'BUTLER_MEMORY_MASTER_KEY_FILE',
    description: 'File that holds the master key in base64, instead of master_key; only its owner may read it',
  }),
  previous_master_key: setting(masterKey, {
    environment: 'BUTLER_MEMORY_PREVIOUS_MASTER_KEY',
    description: 'Master key before the present one, until rotate-keys has wrapped the data keys anew',
  }),
  previous_master_key_file: setting(file, {
    environment: 'BUTLER_MEMORY_PREVIOUS_MASTER_KEY_FILE',
    description: 'File that holds it, instead of previous_master_key',
  }),
});

const redactionMode = oneOf('off', 'mask', 'hash', 'refuse');

const redactedKinds = {
  secrets: 'Passwords, keys and tokens in what is to be kept',
  cards: 'Numbers of payment cards there',
  ibans: 'Numbers of bank accounts there',
  national_ids: 'Numbers that a state gives a person',
  emails: 'E-mail addresses',
  phones: 'Phone numbers',
};

type RedactedKind = keyof typeof redactedKinds;

const kindOf = (kind: RedactedKind, value: 'off' | 'mask') =>
  setting(redactionMode, {
    default: value,
    description: `${redactedKinds[kind]}: kept, replaced by a mark, by a mark with a digest, or the write refused`,
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
    description: 'Key of the digests of "hash"; keep it where the database is not',
  }),
});

const overridden = (kind: RedactedKind) => setting(redactionMode, { description: redactedKinds[kind] });

const daysKept = numberAbove(0, days);

const keptKinds = {
  episodes: 'Days for which an episode is kept at most, whatever it is waiting for',
  facts: 'Days after which a fact that is superseded, expired or forgotten is removed, with all that it superseded',
  rules: 'Days after which a rule that is disabled, expired or forgotten is removed',
  receipts: 'Days for which a receipt is kept at most',
  job_runs: 'Days for which a job run is kept after its end',
  consolidation_runs: 'Days for which a consolidation run is kept after its end',
};

/** What reckons with the runs of a day needs all of them. */
const runDaysKept = numberBetween(2, days);

const retention = table({
  episodes: setting(daysKept, { description: keptKinds.episodes }),
  facts: setting(daysKept, { description: keptKinds.facts }),
  rules: setting(daysKept, { description: keptKinds.rules }),
  receipts: setting(daysKept, { description: keptKinds.receipts }),
  job_runs: setting(daysKept, { default: 30, description: keptKinds.job_runs }),
  consolidation_runs: setting(runDaysKept, { description: keptKinds.consolidation_runs }),
});

/** What one tenant has otherwise than the installation. What it does not name stays as it is for all. */
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
    description: 'What this butler is for',
  }),
  host: setting(host, { default: '127.0.0.1', environment: 'HOST', description: 'Address to listen on' }),
  port: setting(wholeNumber(0, 65_535), {
    default: 8150,
    environment: 'PORT',
    description: 'Port to listen on; 0 takes any free one',
  }),
  public_url: setting(httpUrl, {
    description: 'Address by which clients reach this server, when that is not its own: behind a proxy, for example',
  }),
  allowed_origins: setting(origins, {
    default: [],
    description: 'Origins of other sites whose pages may ask this server and read its answers (CORS)',
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
    description: 'Seconds that running requests get to finish at shutdown',
  }),
  job_workers: setting(wholeNumber(1, 32), {
    default: 2,
    description: 'Sweeps of tenants that this process does at one time; other processes share the rest',
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
    description:
      'What single tenants have otherwise: [butler.tenants."a name".redaction] and [….retention], with their keys',
  }),
  log: table({
    level: setting(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), {
      default: 'info',
      environment: 'LOG_LEVEL',
      description: 'Least severe level that is logged',
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

/** A name that is not known is that of a tenant, and stays as it is. */
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

/** Where a key of the file is found in the object: butler.db.pool_size is config.db.poolSize. */
export function configPath(key: string): string[] {
  const names = key.split('.').map(toCamelCase);
  return names.length === 2 ? names : names.slice(1);
}
