import { expect, describe, it } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';

const config = { log: { level: 'info' as const } };

function capture(isTTY: boolean): { stream: { isTTY: boolean; write: (line: string) => void }; text: () => string } {
  let written = '';
  return { stream: { isTTY, write: (line) => void (written += line) }, text: () => written };
}

describe('the log', () => {
  it('is one JSON object a line where no person reads it', () => {
    const { stream, text } = capture(false);
    createLogger(config, stream).info({ url: 'http://127.0.0.1:8150' }, 'listening');

    expect(JSON.parse(text())).toMatchObject({ level: 'info', url: 'http://127.0.0.1:8150', msg: 'listening' });
  });

  it('is text on a terminal: time, level, message and fields, written before the call returns', () => {
    const { stream, text } = capture(true);
    createLogger(config, stream).info({ url: 'http://127.0.0.1:8150' }, 'listening');

    expect(text()).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: listening \{"url":"http:\/\/127\.0\.0\.1:8150"\}\n$/);
  });

  it('lets no text steer the terminal', () => {
    const { stream, text } = capture(true);
    const hostile = 'a\u001B[2Jb\u202Ec\nd';
    const error = Object.assign(new Error(hostile), { stack: `Error: ${hostile}\n    at e\u001B[2J` });
    createLogger(config, stream).warn({ hostile, err: error }, hostile);

    expect(text()).toContain(String.raw`WARN: a\u001b[2Jb\u202ec\nd`);
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    expect(text()).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
  });
});
