import type { PromptArgument } from '@modelcontextprotocol/sdk/types.js';
import { invalidInput } from '../../shared/errors.ts';

/** The arguments of a prompt by name. The protocol knows text only. */
export type PromptValues = Readonly<Record<string, string | undefined>>;

/** A prompt: our text around the memories that its operations read. */
export interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: readonly (PromptArgument & { name: string })[];
  /** Its queries by name, each with one top-level field; all get the same variables. */
  operations: Readonly<Record<string, string>>;
  toVariables: (given: PromptValues) => Record<string, unknown>;
  /** Returns the messages. */
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
