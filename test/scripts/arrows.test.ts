import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { renderArrowRules } from '../../scripts/arrows.ts';
import { packageRoot } from '../../src/shared/package-root.ts';

/** Lints files that hold nothing but one import each, and returns those that are refused. */
async function findRefused(imports: Record<string, string>): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'arrows-'));
  await writeFile(join(root, '.oxlintrc.json'), renderArrowRules());
  for (const [file, specifier] of Object.entries(imports)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), `import { one } from '${specifier}';\nexport const two = one;\n`);
  }
  const oxlint = join(packageRoot, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'unix'], { cwd: root, encoding: 'utf8' });
  await rm(root, { recursive: true });
  return Object.keys(imports).filter((file) =>
    stdout.split('\n').some((line) => line.includes(`${file}:`) && line.includes('no-restricted-imports')),
  );
}

it('refuses imports that point up, sideways or out of the product', async () => {
  const upward = {
    'src/shared/one.ts': '../config/schema.ts',
    'src/db/deep/er/two.ts': '../../../memory/context.ts',
    'src/memory/three.ts': '../retrieval/search.ts',
    'src/mcp/four.ts': '../graphql/schema.ts',
    'src/mcp/tools/five.ts': '../../memory/context.ts',
    'src/lifecycle/six.ts': '../../jobs/queue.ts',
    'jobs/seven.ts': '../src/graphql/schema.ts',
    'src/create-memory.ts': './http/app.ts',
    'src/http/eight.ts': '../commands/doctor.ts',
    'src/commands/nine.ts': '../../test/support/app.ts',
  };

  expect(await findRefused(upward)).toEqual(Object.keys(upward));
});

it('allows imports that point down, and packages whose paths have the name of a folder', async () => {
  const downward = {
    'src/memory/facts/one.ts': '../../db/database.ts',
    'src/graphql/types/two.ts': '../../lifecycle/decay.ts',
    'jobs/three.ts': '../src/lifecycle/decay.ts',
    'src/cli.ts': './commands/doctor.ts',
    'src/mcp/four.ts': '@modelcontextprotocol/sdk/client/index.js',
    'src/shared/five.ts': 'graphql/jobs/http/index.js',
  };

  expect(await findRefused(downward)).toEqual([]);
});
