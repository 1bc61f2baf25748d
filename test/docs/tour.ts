import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cliArguments, cliEnvironment } from '../support/cli-process.ts';

/** One command of a console block with the output that is printed below it. */
export interface Step {
  command: string;
  output: string;
}

/** Reads the console blocks of a page. A command begins with `$ ` and goes on over indented lines; `^C` is one too. */
export function readSteps(page: string): Step[] {
  const steps: Step[] = [];
  for (const [, block = ''] of page.matchAll(/^```console\n([\s\S]*?)^```$/gm)) {
    let isCommand = false;
    for (const line of block.split('\n').slice(0, -1)) {
      const last = steps.at(-1);
      if (line.startsWith('$ ') || line === '^C') {
        steps.push({ command: line.replace(/^\$ /, ''), output: '' });
        isCommand = true;
      } else if (isCommand && /^ {2}/.test(line) && last !== undefined) {
        last.command += `\n${line}`;
      } else if (last !== undefined) {
        isCommand = false;
        last.output += `${line}\n`;
      }
    }
  }
  return steps;
}

/** Replaces what differs from run to run: ids, handles, times, scores and computed numbers. */
export function normalise(output: string): string {
  return output
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\b[a-z]{2}\d{3}[a-z]{2}\b/g, '<id>')
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '<time>')
    .replace(
      /\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December) \d{4}/g,
      '<date>',
    )
    .replace(/\[\d{2}:\d{2}:\d{2}\.\d{3}\]/g, '[<clock>]')
    .replace(/\(\d\.\d{3}\)/g, '(<score>)')
    .replace(/\d\.\d{4,}/g, '<number>')
    .trimEnd();
}

/** A shell in which the tour is taken, with a server that it starts and stops. */
export interface Tourist {
  run(command: string): Promise<string>;
  close(): Promise<void>;
}

const shownUrl = 'http://127.0.0.1:8150';
const shownHome = '/home/ada/.butler-memory';
const endMark = '<<end of output>>';

/** The server uses this port, which must be free, instead of the one that the page shows. */
export function createTourist(home: string, workingDirectory: string, port: number): Tourist {
  const url = `http://127.0.0.1:${port}`;
  const env = cliEnvironment({
    BUTLER_MEMORY_HOME: home,
    BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers',
    PORT: String(port),
  });
  const shell = spawn('bash', { cwd: workingDirectory, env });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  let server: ChildProcessWithoutNullStreams | undefined;
  let logged = '';

  const runInShell = async (command: string): Promise<string> => {
    shell.stdin.write(`{ ${command}\n} 2>&1; echo '${endMark}'\n`);
    let output = '';
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true || value === endMark) return output;
      output += `${value}\n`;
    }
  };
  const startServer = async (): Promise<string> => {
    server = spawn(process.execPath, [...cliArguments, 'serve'], { cwd: workingDirectory, env });
    logged = '';
    const log = createInterface({ input: server.stdout });
    await new Promise<void>((resolve, reject) => {
      log.on('line', (line) => {
        logged += describeLogLine(line);
        if (line.includes('"msg":"ready')) resolve();
      });
      log.once('close', () => reject(new Error(`the server ended before it was ready: ${logged}`)));
    });
    return logged;
  };
  const stopServer = async (): Promise<string> => {
    if (server === undefined || server.exitCode !== null) return '';
    logged = '';
    const ended = once(server, 'close');
    server.kill('SIGINT');
    await ended;
    return logged;
  };
  const toShown = (output: string): string => output.replaceAll(url, shownUrl).replaceAll(home, shownHome);
  return {
    run: async (command) => {
      if (/^(npm install && )?npm start$/.test(command)) return toShown(await startServer());
      if (command === '^C') return toShown(await stopServer());
      const [program, ...args] = [process.execPath, ...cliArguments].map((word) => JSON.stringify(word));
      const asTested = command.replace('node dist/src/cli.js', [program, ...args].join(' '));
      return toShown(await runInShell(asTested.replaceAll(shownUrl, url)));
    },
    close: async () => {
      await stopServer();
      const ended = once(shell, 'exit');
      shell.stdin.end();
      shell.kill('SIGTERM');
      await ended;
    },
  };
}

/** Writes a line of the JSON log as a terminal shows it. */
function describeLogLine(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, string>;
  const fields = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  return `[${time?.slice(11, 23)}] ${level?.toUpperCase()}: ${msg}${fields}\n`;
}
