import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { GetPromptResult } from '@modelcontextprotocol/sdk/types.js';
import type { GraphQLSchema } from 'graphql';
import { invalidInput } from '../../shared/errors.ts';
import { runOperation, type CallOptions } from '../bridge/call-tool.ts';
import { readOperation, type Operation } from '../bridge/operation.ts';
import { toProtocolError } from '../errors.ts';
import type { Prompt, PromptValues } from './prompt.ts';
import { consolidatePrompt } from './consolidate.ts';
import { reviewFadingPrompt } from './review-fading.ts';
import { requests } from '../requests.ts';

const prompts: readonly Prompt[] = [consolidatePrompt, reviewFadingPrompt];

interface BoundPrompt {
  prompt: Prompt;
  operations: readonly (readonly [name: string, operation: Operation])[];
}

export type BoundPrompts = ReadonlyMap<string, BoundPrompt>;

/** Parses the operations of all prompts. One that does not fit the schema stops the start. */
export function bindPrompts(schema: GraphQLSchema): BoundPrompts {
  return new Map(
    prompts.map((prompt) => {
      const operations = Object.entries(prompt.operations).map(
        ([name, operation]) => [name, readOperation(schema, { name: prompt.name, operation })] as const,
      );
      return [prompt.name, { prompt, operations }];
    }),
  );
}

export function servePrompts(server: Server, boundPrompts: BoundPrompts, options: CallOptions): void {
  server.setRequestHandler(requests.listPrompts, () => ({
    prompts: [...boundPrompts.values()].map(({ prompt }) => ({
      name: prompt.name,
      title: prompt.title,
      description: prompt.description,
      arguments: [...prompt.arguments],
    })),
  }));
  server.setRequestHandler(requests.getPrompt, async ({ params }) => {
    try {
      const bound = boundPrompts.get(params.name);
      if (bound === undefined)
        throw invalidInput('prompt', `one of ${[...boundPrompts.keys()].join(', ')}`, params.name);
      return await writePrompt(bound, params.arguments ?? {}, options);
    } catch (error) {
      throw toProtocolError(error, options.logger);
    }
  });
}

async function writePrompt(
  { prompt, operations }: BoundPrompt,
  given: PromptValues,
  options: CallOptions,
): Promise<GetPromptResult> {
  const names = prompt.arguments.map(({ name }) => name);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalidInput('argument', `one of ${names.join(', ')}`, unknown);
  const variables = prompt.toVariables(given);
  const found = await Promise.all(
    operations.map(async ([name, operation]) => [name, await runOperation({ ...options, operation, variables })]),
  );
  return {
    description: prompt.description,
    messages: prompt
      .write(Object.fromEntries(found) as never, given)
      .map((text) => ({ role: 'user', content: { type: 'text', text } })),
  };
}
