import { pino, type DestinationStream, type Logger } from 'pino';
import type { Config } from './config/schema.ts';
import { currentRequestId } from './request-id.ts';

const standardOutput = 1;
const standardError = 2;

/** One JSON object a line, with the id of the request that caused it. */
export function createLogger(
  { log }: Pick<Config, 'log'>,
  destination: 'stdout' | 'stderr' | DestinationStream = 'stdout',
): Logger {
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
    typeof destination === 'string'
      ? pino.destination({ dest: destination === 'stdout' ? standardOutput : standardError, sync: true })
      : destination,
  );
}
