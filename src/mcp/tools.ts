import type { Tool } from './tool.ts';
import { confirmMemoryTool } from './tools/confirm-memory.ts';
import { forgetMemoryTool } from './tools/forget-memory.ts';
import { getMemoryTool } from './tools/get-memory.ts';
import { healthTool } from './tools/health.ts';
import { markRuleHarmfulTool } from './tools/mark-rule-harmful.ts';
import { markRuleHelpfulTool } from './tools/mark-rule-helpful.ts';
import { restoreMemoryTool } from './tools/restore-memory.ts';
import { storeEpisodeTool } from './tools/store-episode.ts';
import { storeFactTool } from './tools/store-fact.ts';
import { storeRuleTool } from './tools/store-rule.ts';

export const tools: readonly Tool[] = [
  storeEpisodeTool,
  storeFactTool,
  storeRuleTool,
  getMemoryTool,
  confirmMemoryTool,
  markRuleHelpfulTool,
  markRuleHarmfulTool,
  forgetMemoryTool,
  restoreMemoryTool,
  healthTool,
];
