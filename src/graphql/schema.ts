import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './types/activity.ts';
import './types/episode.ts';
import './types/event.ts';
import './types/fact.ts';
import './types/health.ts';
import './types/history.ts';
import './types/link.ts';
import './types/memory.ts';
import './types/memory-list.ts';
import './types/note.ts';
import './types/rule.ts';
import './types/schedule.ts';
import './types/search.ts';
import './types/stats.ts';
import './types/traversal.ts';

export const schema: GraphQLSchema = builder.toSchema();
