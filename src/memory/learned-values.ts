import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Omissions, RedactedText, Redactor } from '../redaction/redactor.ts';
import type { MemoryContext } from './context.ts';
import { normaliseMetadata, type KeptMetadata } from './metadata.ts';
import { requireButler, requireScope } from './reach.ts';
import { normaliseKey } from './text.ts';
import { checkNumber, checkOptionalUuid, globalScope, normaliseTags } from './values.ts';

/** Input that facts and rules have in common. */
export interface LearnedInput {
  content: string;
  scope?: string | null | undefined;
  importance?: number | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
  sourceButler?: string | null | undefined;
  sourceEpisodeId?: string | null | undefined;
  /** The live memory of the same type that it replaces. */
  supersedes?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** Values that facts and rules have in common: checked, and with secrets masked. */
export interface LearnedValues {
  id: string;
  content: RedactedText;
  scope: string;
  importance: number;
  tags: RedactedText[];
  metadata: KeptMetadata;
  sourceButler: string | null;
  sourceEpisodeId: string | null;
  /** What redaction removed; not a column. */
  omissions: Omissions;
}

/** Checks and masks all but the content, and chooses the id. */
export function normaliseLearned(
  context: MemoryContext,
  redactor: Redactor,
  input: LearnedInput,
): Omit<LearnedValues, 'content' | 'omissions'> {
  return {
    id: uuidv7(),
    scope: requireScope(context, normaliseKey(redactor, 'scope', input.scope ?? globalScope)),
    importance: checkNumber('importance', input.importance ?? 5, 1, 10),
    tags: normaliseTags(redactor, input.tags),
    metadata: normaliseMetadata(redactor, 'metadata', input.metadata ?? {}),
    sourceButler: input.sourceButler
      ? requireButler(context, normaliseKey(redactor, 'source_butler', input.sourceButler), 'source_butler')
      : context.principal.butler,
    sourceEpisodeId: checkOptionalUuid('source_episode_id', input.sourceEpisodeId),
  };
}
