import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './types/episode.ts';
import './types/fact.ts';
import './types/health.ts';
import './types/memory.ts';
import './types/rule.ts';
import './types/schedule.ts';

export const schema: GraphQLSchema = builder.toSchema();
