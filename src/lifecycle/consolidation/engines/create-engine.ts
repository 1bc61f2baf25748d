import type { Config } from '../../../config/schema.ts';
import type { ConsolidationEngine } from '../engine.ts';
import { createCommandEngine } from './command.ts';
import { createLlmEngine } from './llm.ts';
import { patternsEngine } from './patterns.ts';

/** The configured one; undefined where the server itself does nothing, because an agent does it or nobody. */
export function createEngine(config: Config): ConsolidationEngine | undefined {
  switch (config.memory.consolidation.engine) {
    case 'llm':
      return createLlmEngine(config);
    case 'command':
      return createCommandEngine(config);
    case 'patterns':
      return patternsEngine;
    case 'agent':
    case 'off':
      return undefined;
  }
}
