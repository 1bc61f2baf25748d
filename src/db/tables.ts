/** The table of each type of memory. */
export const memoryTables = { episode: 'episodes', fact: 'facts', rule: 'rules' } as const;
export type MemoryType = keyof typeof memoryTables;
export const memoryTypes = Object.keys(memoryTables) as MemoryType[];
