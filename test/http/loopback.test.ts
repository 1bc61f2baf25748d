import { describe, expect, it } from 'vitest';
import { findForeignness, isLoopback } from '../../src/http/loopback.ts';

describe('a loopback host', () => {
  it.each(['127.0.0.1', '127.255.0.9', 'localhost', '::1', '[::1]'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil.example', 'evil-localhost', ''])(
    'is not %j',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

describe('a request', () => {
  it.each([
    ['from a program', 'http://localhost:8150/graphql', null],
    ['from our own page', 'http://localhost:8150/graphql', 'http://localhost:8150'],
    ['from our own page by its number', 'http://[::1]:8150/graphql', 'http://[::1]:8150'],
  ])('%s is not foreign', (_, url, origin) => {
    expect(findForeignness(url, origin)).toBeUndefined();
  });

  it.each([
    [
      'from a page of another site',
      'http://localhost:8150/',
      'https://evil.example',
      /^origin must be .*got "https:\/\/evil/,
    ],
    ['from a page on another port', 'http://localhost:8150/', 'http://localhost:3000', /^origin must be /],
    ['from a page without an address', 'http://localhost:8150/', 'null', /^origin must be .*got "null"/],
    ['by a name that is pointed at us', 'http://evil.example:8150/', null, /^host must be .*got "evil\.example"/],
    ['by a name that is none', 'http://[/', null, /^host must be /],
  ])('%s is foreign', (_, url, origin, reason) => {
    expect(findForeignness(url, origin)).toMatch(reason);
  });
});
