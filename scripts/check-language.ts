// Checks the words of comments, descriptions, messages, documents and commit subjects for habits that hide what is meant.
//   node --import tsx scripts/check-language.ts
// It knows only the worst ones. Commit subjects are checked from a fixed commit on, where the history has it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../src/shared/package-root.ts';

interface Habit {
  pattern: RegExp;
  advice: string;
}

const start = String.raw`(?:^|[.!?:;]\s+|["'\x60(]\s*)`;
const passive =
  'told|taken|made|given|kept|done|said|asked|wanted|shown|meant|looked for|known|held|left|brought|found|stored|written|sent';

const habits: readonly Habit[] = [
  {
    pattern: new RegExp(`${start}(?:Who|Whom|Whose)\\b(?![^.]*\\?)`, 'gm'),
    advice: 'name the person or program: caller, client, operator',
  },
  { pattern: /\b[Ww]ho(?:m|se)?ever\b/g, advice: 'name the person or program: caller, client, operator' },
  {
    pattern: /\bWhich of (?:the|these|those|them|all)\b/g,
    advice: 'name the thing: "The memory type: episode, fact or rule."',
  },
  {
    pattern: new RegExp(
      `${start}What (?:is|was|are|were|has been|had been|may be|must be|can be) (?:not )?(?:${passive})\\b(?![^.]*\\?)`,
      'gm',
    ),
    advice: 'name the thing: output, request, stored text',
  },
  { pattern: /\bby hand\b/gi, advice: 'say how: "manually", or name the command' },
  {
    pattern: /\b(?:is|are|was|were|be|been) told\b(?! (?:apart|from|by what))/gi,
    advice: 'say shown, returned, logged or reported',
  },
  { pattern: /\bforet(?:ell|old)|\bvigil\b/gi, advice: 'say plan or forecast; say watch' },
  { pattern: /\bout of the world\b/gi, advice: 'say permanently erase' },
];

/** Returns a line for each habit in a text: its place, the words and what to write instead. */
export function findHabits(text: string, firstLine = 1): string[] {
  return habits.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map((match) => {
      const line = firstLine + text.slice(0, match.index).split('\n').length - 1;
      const words =
        text
          .slice(match.index, match.index + 60)
          .trim()
          .split('\n')[0] ?? '';
      return `${line}: "${words}": ${advice}`;
    }),
  );
}

/** Returns the comments and the text literals of TypeScript, each with its first line. */
export function extractProse(code: string): { text: string; line: number }[] {
  // Comments first: a quotation mark in one, or in a regular expression before it, must not hide the next.
  const comment = /\/\*[\s\S]*?\*\/|(?<=^|[\s;{,(])\/\/[^\n]*/gm;
  const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  const blanked = code.replace(comment, (text) => text.replace(/[^\n]/g, ' '));
  const found = [...code.matchAll(comment), ...blanked.matchAll(literal)];
  return found.map((match) => ({
    text: match[0].replace(/^\s*\/?\*+\/?[ \t]?|^\s*\/\/[ \t]?/gm, (mark) => mark.replace(/[^\n]/g, '')),
    line: code.slice(0, match.index).split('\n').length,
  }));
}

/** The last commit before the rule. */
const lastUnchecked = 'bede0f8498d3953989fe63a860bdf3bc5722b898';

/** Returns the commit subjects over 72 characters since the rule was made; none where the history is cut before. */
export function findLongSubjects(directory: string, base = lastUnchecked): string[] {
  const log = spawnSync('git', ['log', '--no-merges', '--format=%h %s', `${base}..HEAD`], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (log.status !== 0) return [];
  return log.stdout.split('\n').filter((line) => line.slice(line.indexOf(' ') + 1).length > 72);
}

function listFiles(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(?:ts|mjs|md)$/.test(name) && !name.includes('generated'));
}

function checkFile(name: string): string[] {
  const content = readFileSync(join(packageRoot, name), 'utf8');
  const prose = name.endsWith('.md') ? [{ text: content, line: 1 }] : extractProse(content);
  return prose.flatMap(({ text, line }) => findHabits(text, line).map((problem) => `${name}:${problem}`));
}

function main(): void {
  const files = ['src', 'jobs', 'scripts', 'docs'].flatMap(listFiles);
  const own = 'scripts/check-language.ts';
  const pages = ['README.md', 'CONTRIBUTING.md'];
  const problems = [...files.filter((name) => name !== own), ...pages].flatMap(checkFile);
  const subjects = findLongSubjects(packageRoot).map((subject) => `commit ${subject}: at most 72 characters`);
  for (const problem of [...problems, ...subjects]) console.error(problem);
  if (problems.length + subjects.length > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
