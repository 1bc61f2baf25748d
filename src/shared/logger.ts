import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import type Pretty from 'pino-pretty';
import { pino, type DestinationStream, type LevelWithSilent, type Logger } from 'pino';
import { currentRequestId } from './request-context.ts';

const standardOutput = 1;
const standardError = 2;

/** A stream that says, as `process.stdout` does, whether it is a terminal. */
export type LogStream = DestinationStream & { readonly isTTY?: boolean };

/** Logs one JSON object a line, with the id of the request that caused it; on a terminal, one line of text instead. */
export function createLogger(
  { log }: { log: { level: LevelWithSilent } },
  destination: 'stdout' | 'stderr' | LogStream = 'stdout',
): Logger {
  const stream = typeof destination === 'string' ? standardStream(destination) : destination;
  return pino(
    {
      level: log.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const requestId = currentRequestId();
        return requestId === undefined ? {} : { requestId };
      },
      redact: { paths: ['req.headers.authorization', '*.password', '*.token'], censor: '[hidden]' },
    },
    stream.isTTY === true ? asText(stream) : stream,
  );
}

function standardStream(name: 'stdout' | 'stderr'): LogStream {
  const dest = name === 'stdout' ? standardOutput : standardError;
  return Object.assign(pino.destination({ dest, sync: true }), { isTTY: isatty(dest) });
}

/** Formats as it writes: pino-pretty's own stream works later, and would lose the last lines of a process that ends. */
function asText(stream: DestinationStream): DestinationStream {
  // Loaded only here: most servers have no terminal.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof Pretty;
  const format = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    messageFormat: (line, key) => (line[key] as string | undefined)?.replaceAll('\n', String.raw`\n`) ?? '',
  });
  return { write: (line) => stream.write(format(JSON.parse(line, escapeControls))) };
}

/** Escapes what a terminal would obey: the message and the stack of an error are printed as they are. */
function escapeControls(_key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value.replace(
    /(?!\n)[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`,
  );
}
