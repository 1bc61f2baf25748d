import type { Config } from '../../../config/schema.ts';
import type { MemoryContext } from '../../../memory/context.ts';
import { createRedactor } from '../../../redaction/redactor.ts';
import type { Claim } from '../claim.ts';
import { EngineError, type ConsolidationEngine } from '../engine.ts';
import { buildPrompt } from '../prompt.ts';
import { sanitiseReason } from '../sanitise-reason.ts';
import { runProgram, type ProgramResult } from './run-program.ts';

type CommandSettings = Config['memory']['consolidation']['command'];

/** Says to whatever the program starts that it works for a run: what happens there is not to be remembered. */
const maintenanceRunVariable = 'BUTLER_MEMORY_MAINTENANCE_RUN';

/** Asks a program on this machine: the prompt is its input, the JSON its output. */
export function createCommandEngine(config: Config, environment: NodeJS.ProcessEnv = process.env): ConsolidationEngine {
  const { command: settings } = config.memory.consolidation;
  return {
    name: 'command',
    findObstacle: async () =>
      settings.command === undefined ? 'butler.memory.consolidation.command.command is not set' : null,
    extract: async (context, claim, signal) => {
      const { system, user, episodeIds, tooLong } = await buildPrompt(context, claim);
      if (episodeIds.length === 0) return { output: { new_facts: [] }, episodeIds, tooLong };
      const [program = '', ...commandArguments] = settings.command ?? [];
      const result = await runProgram({
        program,
        arguments: commandArguments,
        environment: environmentFor(settings, claim, environment),
        input: `${system}\n\n${user}\n`,
        timeoutMs: settings.timeoutSeconds * 1000,
        maxOutputBytes: settings.maxOutputBytes,
        signal,
      });
      logErrors(context, claim, result.errors);
      requireSuccess(result, settings);
      return { output: result.output, episodeIds, tooLong };
    },
  };
}

const alwaysPassed = ['PATH', 'HOME', 'LANG'];

/** Not the server's own: that holds the password of the database and the keys of models. */
function environmentFor(
  { environment: names }: CommandSettings,
  { runId }: Claim,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const passed = [...alwaysPassed, ...names].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), [maintenanceRunVariable]: runId };
}

function logErrors(context: MemoryContext, { runId, butler, episodes }: Claim, errors: string): void {
  if (errors === '') return;
  const texts = episodes.map(({ content }) => content);
  const shown = sanitiseReason(createRedactor(context).mask(errors), texts);
  context.logger.warn({ runId, butler, errors: shown }, 'the consolidation command wrote to its standard error');
}

/** Of sysexits.h: what is not there for now, and what is set up wrongly. */
const unavailableExitCodes = [69, 75, 77, 78];

function requireSuccess(result: ProgramResult, { timeoutSeconds, maxOutputBytes }: CommandSettings): void {
  const { end } = result;
  switch (end.kind) {
    case 'exit':
      if (end.code === 0) return;
      throw new EngineError(
        `the command ended with ${end.code === null ? `signal ${end.signal}` : `exit code ${end.code}`}`,
        {
          retryable: true,
          isUnavailable: end.code !== null && unavailableExitCodes.includes(end.code),
        },
      );
    case 'not started':
      throw new EngineError(`the command could not be started (${end.code})`, { retryable: true, isUnavailable: true });
    case 'timeout':
      throw new EngineError(`the command did not end within ${timeoutSeconds} s (timeout_seconds)`, {
        retryable: true,
      });
    case 'too much output':
      throw new EngineError(`the command wrote more than ${maxOutputBytes} bytes (max_output_bytes)`, {
        retryable: true,
      });
    case 'aborted':
      throw new EngineError('the command was ended, as the run ended', { retryable: true });
  }
}
