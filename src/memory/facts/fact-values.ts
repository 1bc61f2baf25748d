import { createHash } from 'node:crypto';
import { keyedDigest } from '../../encryption/data-key.ts';
import { asStored, createRedactor, omissionsOf, type RedactedText, type Redactor } from '../../redaction/redactor.ts';
import { invalidInput } from '../../shared/errors.ts';
import { permanences, type Permanence } from '../confidence.ts';
import type { MemoryContext } from '../context.ts';
import { isToBeSealed, prepareSealing, useActiveKey } from '../../encryption/data-keys.ts';
import { normaliseLearned, type LearnedInput, type LearnedValues } from '../learned-values.ts';
import { sealedPlaceholder } from '../../encryption/sealing.ts';
import { normaliseContent, normaliseLabel } from '../text.ts';
import { findGloss, predicateKey } from './lexicon.ts';
import { checkDate, checkNumber, checkOneOf } from '../values.ts';
import { isNote, namesNote, noteName, notePredicate, readsAsNote } from './note-key.ts';

export const factKinds = ['state', 'event'] as const;
export type FactKind = (typeof factKinds)[number];

export const factValidities = ['active', 'fading', 'superseded', 'expired', 'retracted'] as const;
export type FactValidity = (typeof factValidities)[number];

/** Live is active or fading: the validities of which a key has one fact at most. */
export const liveValidities: FactValidity[] = ['active', 'fading'];

export function isLive(validity: unknown): boolean {
  return liveValidities.some((live) => live === validity);
}

export interface StoreFactInput extends LearnedInput {
  subject: string;
  predicate: string;
  permanence?: string | null | undefined;
  confidence?: number | null | undefined;
  kind?: string | null | undefined;
  observedAt?: Date | null | undefined;
  validFrom?: Date | null | undefined;
  validTo?: Date | null | undefined;
  /** Whether the predicate holds several values. By default the configuration says so. */
  several?: boolean | null | undefined;
}

export interface FactValues extends LearnedValues {
  subject: RedactedText;
  predicate: RedactedText;
  /** What facts of one meaning share, whatever their predicates are called. */
  predicateKey: string;
  /** Tells the values of a predicate that holds several; empty for others. */
  valueKey: string;
  kind: FactKind;
  confidence: number;
  permanence: Permanence;
  observedAt: Date | null;
  validFrom: Date | null;
  validTo: Date | null;
  /** Whether the database gets its content, tags and metadata encrypted. */
  isSealed: boolean;
}

/** Before the transaction, and before anything is made of the content. */
export async function decideSealing(context: MemoryContext, values: FactValues): Promise<FactValues> {
  const isSealed =
    (await isToBeSealed(context, values.predicate)) || (await isToBeSealed(context, values.predicateKey));
  if (!isSealed) return values;
  await prepareSealing(context);
  if (!isNote(values)) return { ...values, valueKey: await sealValueKey(context, values), isSealed };
  const predicate = await sealNotePredicate(context, values);
  return { ...values, predicate, predicateKey: predicate, isSealed };
}

/** Keys the digest of a sealed value, for the same reason. */
async function sealValueKey(context: MemoryContext, { valueKey }: FactValues): Promise<string> {
  if (valueKey === '') return valueKey;
  const key = await context.db.transaction((transaction) => useActiveKey(context, transaction));
  return keyedDigest(key, valueKey);
}

/** Keys the digest of a sealed note: a plain one could be guessed by trying texts. */
async function sealNotePredicate(context: MemoryContext, { content }: FactValues): Promise<RedactedText> {
  const key = await context.db.transaction((transaction) => useActiveKey(context, transaction));
  return notePredicate(content, (text) => keyedDigest(key, text));
}

export function normaliseFact(context: MemoryContext, input: StoreFactInput): FactValues {
  const redactor = createRedactor(context);
  const content = normaliseContent(redactor, 'content', input.content);
  const names = normaliseNames(redactor, input, content);
  const key = isNote(names) ? names.predicate : predicateKey(names.predicate);
  const values: FactValues = {
    ...names,
    ...normaliseLearned(context, redactor, input),
    predicateKey: key,
    // An event shares its key freely, so that it needs no value in it.
    valueKey: input.kind !== 'event' && (input.several ?? holdsSeveral(context, key)) ? digestValue(content) : '',
    content,
    kind: checkOneOf('kind', input.kind ?? 'state', factKinds),
    confidence: checkNumber('confidence', input.confidence ?? 1, 0, 1),
    permanence: checkOneOf('permanence', input.permanence ?? 'standard', permanences),
    observedAt: checkDate('observed_at', input.observedAt),
    validFrom: checkDate('valid_from', input.validFrom),
    validTo: checkDate('valid_to', input.validTo),
    omissions: omissionsOf(redactor),
    isSealed: false,
  };
  checkValidTime(values);
  return values;
}

/** A note has its text as its key, so that two of them stand side by side. */
function normaliseNames(
  redactor: Redactor,
  input: StoreFactInput,
  content: RedactedText,
): Pick<FactValues, 'subject' | 'predicate'> {
  if (namesNote(input)) return { subject: asStored(noteName), predicate: notePredicate(content) };
  return {
    subject: normaliseLabel(redactor, 'subject', input.subject),
    predicate: normaliseLabel(redactor, 'predicate', input.predicate),
  };
}

/** Whether the configuration says that predicates of this key hold several values. */
export function holdsSeveral({ config }: Pick<MemoryContext, 'config'>, key: string): boolean {
  return config.memory.facts.severalValues.some((name) => predicateKey(name) === key);
}

export function checkValidTime({ validFrom, validTo }: Pick<FactValues, 'validFrom' | 'validTo'>): void {
  if (validFrom !== null && validTo !== null && validTo < validFrom) {
    throw invalidInput('valid_to', 'not before valid_from', validTo);
  }
}

/**
 * Returns what is embedded of a fact: "dentist, teeth, toothache: Dr Kaur (user)". Subject and predicate belong to what it
 * says. Of a sealed fact they are all, because a vector tells much of its text. A note is its content, and the name of whom
 * or what it is about where the content lacks it.
 */
export function embeddedText({
  subject,
  predicate,
  content,
  isSealed = content === sealedPlaceholder,
}: TextOfFact): RedactedText {
  if (readsAsNote({ subject, predicate })) return isSealed ? asStored(noteName) : nameInNote(subject, content);
  const gloss = findGloss(predicate);
  const about = `${predicate.replaceAll('_', ' ')}${gloss === '' ? '' : `, ${gloss}`}`;
  return asStored(isSealed ? `${about} (${subject})` : `${about}: ${content} (${subject})`);
}

/** Adds the subject of a note that is written as a name is, unless its content has it. */
function nameInNote(subject: RedactedText, content: RedactedText): RedactedText {
  const isNamed = /^\p{Lu}/u.test(subject) && !content.toLowerCase().includes(subject.toLowerCase());
  return isNamed ? asStored(`${content} (${subject})`) : content;
}

interface TextOfFact extends Pick<FactValues, 'subject' | 'predicate' | 'content'> {
  isSealed?: boolean;
}

/** Brings a value to the form in which two are compared: "Green  Tea." and "green tea" are one. */
export function normaliseValue(content: string): string {
  return content
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/^[\s"']+|[\s"'.,;!]+$/g, '');
}

/** A digest, because an index cannot hold a long text. */
function digestValue(content: string): string {
  return createHash('sha256').update(normaliseValue(content)).digest('hex').slice(0, 32);
}
