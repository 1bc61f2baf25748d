import type { Tool } from './tool.ts';
import { activityStreamTool } from './tools/activity-stream.ts';
import { confirmMemoryTool } from './tools/confirm-memory.ts';
import { consolidationClaimTool } from './tools/consolidation-claim.ts';
import { consolidationRequeueTool } from './tools/consolidation-requeue.ts';
import { consolidationSubmitTool } from './tools/consolidation-submit.ts';
import { contextBatchTool } from './tools/context-batch.ts';
import { contextTool } from './tools/context.ts';
import { explainTool } from './tools/explain.ts';
import { forgetMemoryTool } from './tools/forget-memory.ts';
import { getMemoryTool } from './tools/get-memory.ts';
import { healthTool } from './tools/health.ts';
import { historyTool } from './tools/history.ts';
import { ingestBatchTool } from './tools/ingest-batch.ts';
import { markRuleHarmfulTool } from './tools/mark-rule-harmful.ts';
import { markRuleHelpfulTool } from './tools/mark-rule-helpful.ts';
import { recallTool } from './tools/recall.ts';
import { restoreMemoryTool } from './tools/restore-memory.ts';
import { searchTool } from './tools/search.ts';
import { statsTool } from './tools/stats.ts';
import { storeEpisodeTool } from './tools/store-episode.ts';
import { storeFactTool } from './tools/store-fact.ts';
import { storeNoteTool } from './tools/store-note.ts';
import { storeRuleTool } from './tools/store-rule.ts';
import { undoTool } from './tools/undo.ts';

export const tools: readonly Tool[] = [
  storeEpisodeTool,
  storeFactTool,
  storeRuleTool,
  storeNoteTool,
  ingestBatchTool,
  searchTool,
  recallTool,
  getMemoryTool,
  explainTool,
  contextTool,
  contextBatchTool,
  confirmMemoryTool,
  markRuleHelpfulTool,
  markRuleHarmfulTool,
  forgetMemoryTool,
  restoreMemoryTool,
  undoTool,
  historyTool,
  statsTool,
  activityStreamTool,
  healthTool,
  consolidationClaimTool,
  consolidationSubmitTool,
  consolidationRequeueTool,
];
