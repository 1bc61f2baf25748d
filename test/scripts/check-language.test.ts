import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { extractProse, findHabits, findLongSubjects } from '../../scripts/check-language.ts';

describe('findHabits', () => {
  it.each([
    'Who cannot say who they are gets no further.',
    'It is refused. Whoever asks again waits.',
    'The token of whoever calls.',
    'Which of the three it is.',
    'What is told to the caller.',
    'Stored. What was made is kept.',
    'Runs one job by hand.',
    'The caller is told why.',
    'Takes a memory out of the world.',
  ])('finds the habit in %j', (text) => {
    expect(findHabits(text)).toHaveLength(text.includes('told to') ? 2 : 1);
  });

  it.each([
    'Authenticates the request; answers 401 on failure.',
    'The memory type: episode, fact or rule.',
    'Callers who asked before are served first.',
    'Who may call this? An operator.',
    'What is shown when nothing matches? A hint.',
    'Handles what comes next.',
  ])('finds nothing in %j', (text) => {
    expect(findHabits(text)).toEqual([]);
  });

  it('says the line, the words and what to write instead', () => {
    expect(findHabits('Fine.\nRuns by hand.', 10)).toEqual([
      '11: "by hand.": say how: "manually", or name the command',
    ]);
  });
});

it('reads comments and texts of code, and no code', () => {
  const code =
    "// one\nconst byHand = 'two'; /* three\n * four */\nconst five = `six`;\nconst eight = /['`]/;\n/** Seven. */";

  expect(extractProse(code)).toEqual([
    { text: 'one', line: 1 },
    { text: expect.stringMatching(/three\nfour/) as string, line: 2 },
    { text: expect.stringContaining('Seven.') as string, line: 6 },
    { text: "'two'", line: 2 },
    { text: '`six`', line: 4 },
  ]);
});

it('skips commit subjects where the history is not there', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'no-history-'));
  expect(findLongSubjects(directory)).toEqual([]);
  spawnSync('git', ['init', '-q'], { cwd: directory });
  expect(findLongSubjects(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});

it('finds commit subjects over 72 characters', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'long-subjects-'));
  const git = (...args: string[]): string =>
    spawnSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: directory,
      encoding: 'utf8',
    }).stdout.trim();
  const commit = (subject: string): string => git('commit', '-q', '--allow-empty', '-m', subject);
  git('init', '-q');
  commit('first');
  const base = git('rev-parse', 'HEAD');
  commit('a'.repeat(72));
  commit('b'.repeat(73));
  expect(findLongSubjects(directory, base)).toEqual([expect.stringMatching(/ b{73}$/)]);
  await rm(directory, { recursive: true });
});
