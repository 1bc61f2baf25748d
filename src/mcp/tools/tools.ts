import type { ToolGroup } from '../../config/tool-groups.ts';
import { consolidateTools } from './consolidate.ts';
import { contextTools } from './context.ts';
import { feedbackTools } from './feedback.ts';
import { manageTools } from './manage.ts';
import { readTools } from './read.ts';
import { storeTools } from './store.ts';
import type { GroupedTool, Tool } from './tool.ts';

/** In the order of tools/list. */
const groups: Record<ToolGroup, readonly GroupedTool[]> = {
  store: storeTools,
  read: readTools,
  context: contextTools,
  feedback: feedbackTools,
  manage: manageTools,
  consolidate: consolidateTools,
};

export const tools: readonly Tool[] = Object.entries(groups).flatMap(([group, some]) =>
  some.map((tool) => ({ ...tool, group: group as ToolGroup })),
);
