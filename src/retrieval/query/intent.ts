import type { MemoryType } from '../../db/tables.ts';
import { findTimeRange, type TimeRange } from './time-preference.ts';

export const intents = ['identity', 'preference', 'procedure', 'episode', 'general'] as const;
export type Intent = (typeof intents)[number];

/** What a question is after, and how its answer is weighed for that. */
export interface Routing {
  intent: Intent;
  /** What the score of each type is multiplied by. */
  typeWeights: Readonly<Record<MemoryType, number>>;
  /** What is about this time is preferred; nothing is left out for it. */
  timeRange: TimeRange | null;
  /** Whether the answer is a time, so that a memory which tells one is preferred. */
  asksTime: boolean;
}

const weights: Record<Intent, Routing['typeWeights']> = {
  identity: { fact: 1.2, rule: 0.8, episode: 0.9 },
  preference: { fact: 1.2, rule: 0.9, episode: 0.9 },
  procedure: { rule: 1.25, fact: 1, episode: 0.9 },
  episode: { episode: 1.2, fact: 1, rule: 0.8 },
  general: { fact: 1, rule: 1, episode: 1 },
};

const asksTimePattern = /^\W*(when|since when|what (date|day|month|year|time)|which (day|month|year)|how long)\b/;
const happenedPattern =
  /^\W*(when|what|where|who|how|why|did|was|were)\b.*\b(did|was|were|happened|said|told|talked|went)\b/;
const preferencePattern =
  /\b(likes?|loves?|prefers?|preferences?|favou?rites?|enjoys?|hates?|dislikes?|fond of|allergic)\b/;
const procedurePattern =
  /\b(how (do|should|can|must|would) (i|we|you)|how to|should (i|we|you)|what to do|when should|best way|steps|procedure|instructions?|rules?|polic(y|ies)|guidelines?|remind me how)\b/;
const identityPattern =
  /\b(who (am|is|are)|(names?|birthdays?|birth date|age|address|job|profession|employer|email|phone( number)?|nationality|religion|spouse|wife|husband|partner|children|parents|siblings?|pets?)\b|how old|where (do|does) .* (live|work)|am i|tell me about (my|him|her)self)\b/;

/** By fixed patterns of English, in a fixed order: the same text has the same intent each time, on every machine. */
function findIntent(text: string, hasTimeRange: boolean): Intent {
  const question = text.toLowerCase();
  if (hasTimeRange) return 'episode';
  if (procedurePattern.test(question)) return 'procedure';
  if (asksTimePattern.test(question)) return 'episode';
  if (preferencePattern.test(question)) return 'preference';
  if (identityPattern.test(question)) return 'identity';
  return happenedPattern.test(question) ? 'episode' : 'general';
}

/** Switched off, every question is general and no time is preferred. */
export function routeQuery(text: string, now: Date, isOn: boolean): Routing {
  if (!isOn) return { intent: 'general', typeWeights: weights.general, timeRange: null, asksTime: false };
  const timeRange = findTimeRange(text, now);
  const intent = findIntent(text, timeRange !== null);
  return { intent, typeWeights: weights[intent], timeRange, asksTime: asksTimePattern.test(text.toLowerCase()) };
}

const timeLexemes = `
  yesterday today tomorrow tonight last next ago recent day week weekend month year morn night monday tuesday wednesday
  thursday friday saturday sunday januari februari march april may june juli august septemb octob novemb decemb`;

/** English lexemes that tell a time, as a tsquery. */
export const timeWords = timeLexemes.trim().split(/\s+/).join(' | ');
