import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { recordReads } from '../support/record-reads.ts';
import { configReference } from '../../scripts/docs/config-reference.ts';

const { config } = loadConfig({ env: {}, workingDirectory: '/nowhere', homeDirectory: '/home/someone' });
const allKeys = configReference().map(({ key }) => key);

describe('recordReads', () => {
  it('counts nothing as read at first', () => {
    expect(recordReads(config).unread()).toEqual(allKeys);
  });

  it('gives the same values', () => {
    expect(recordReads(config).config).toEqual(config);
  });

  it('counts the keys that were read and no others', () => {
    const recorded = recordReads(config);
    const { port } = recorded.config.butler;
    const { relevance } = recorded.config.memory.retrieval.scoreWeights;
    expect([port, relevance]).toEqual([8150, 0.4]);
    const read = allKeys.filter((key) => !recorded.unread().includes(key));
    expect(read).toEqual(['butler.port', 'butler.memory.retrieval.score_weights.relevance']);
  });

  it('does not count a table that was only passed on', () => {
    const recorded = recordReads(config);
    expect(typeof recorded.config.memory.rules.promoteToProven).toBe('object');
    expect(recorded.unread()).toEqual(allKeys);
  });

  it('counts an optional key that is absent', () => {
    const recorded = recordReads(config);
    expect(recorded.config.db.url).toBeUndefined();
    expect(recorded.unread()).not.toContain('butler.db.url');
  });

  it('counts every leaf of a table that is copied, also into a worker', () => {
    const recorded = recordReads(config);
    expect({ ...recorded.config.memory.eden }).toEqual(config.memory.eden);
    expect(structuredClone(recorded.config.memory.mid)).toEqual(config.memory.mid);
    const unread = recorded.unread().filter((key) => /memory\.(eden|mid|long)\./.test(key));
    expect(unread).toEqual(['butler.memory.long.max_entries']);
  });

  it('has nothing unread once everything was read', () => {
    const recorded = recordReads(config);
    structuredClone(recorded.config);
    expect(recorded.unread()).toEqual([]);
  });

  it('keeps two recordings apart and stays frozen', () => {
    const first = recordReads(config);
    const second = recordReads(config);
    expect(first.config.log.level).toBe('info');
    expect(second.unread()).toContain('butler.log.level');
    expect(Object.isFrozen(first.config.log)).toBe(true);
  });
});
