import type { Tool } from './tool.ts';
import { getEpisodeTool } from './tools/get-episode.ts';
import { healthTool } from './tools/health.ts';
import { storeEpisodeTool } from './tools/store-episode.ts';

export const tools: readonly Tool[] = [storeEpisodeTool, getEpisodeTool, healthTool];
