import type { PromptArgument } from '@modelcontextprotocol/sdk/types.js';
import { invalidInput } from '../shared/errors.ts';

/** What was given for a prompt's arguments, by name. The protocol knows text only. */
export type PromptValues = Readonly<Record<string, string | undefined>>;

/** A prompt is text of ours about memories that its operations read. */
export interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: readonly (PromptArgument & { name: string })[];
  /** What is read for it, each with one top-level field; all with the same variables. */
  operations: Readonly<Record<string, string>>;
  toVariables: (given: PromptValues) => Record<string, unknown>;
  /** One message each. */
  write: (found: never, given: PromptValues) => string[];
}

const mostItems = 100;

export const limitArgument: PromptArgument & { name: string } = {
  name: 'limit',
  description: `How many of each to show, from 1 to ${mostItems}. Default 20.`,
  required: false,
};

export function readLimit({ limit = '20' }: PromptValues): number {
  if (/^[1-9]\d{0,2}$/.test(limit) && Number(limit) <= mostItems) return Number(limit);
  throw invalidInput('limit', `a whole number from 1 to ${mostItems}`, limit);
}
