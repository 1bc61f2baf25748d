/** What may produce the output of a run. `agent` is a butler that claims and submits through a door by itself. */
export const engineNames = ['patterns', 'llm', 'command', 'agent'] as const;
export type EngineName = (typeof engineNames)[number];
