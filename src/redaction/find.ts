import { findCards } from './cards.ts';
import { findEmails } from './emails.ts';
import { findingKinds, type Finder, type Finding, type FindingKind } from './finding.ts';
import { findIbans } from './ibans.ts';
import { findNationalIds } from './national-ids.ts';
import { findPhones } from './phones.ts';
import { findSecrets } from './secrets/secrets.ts';

const finders: Record<FindingKind, Finder> = {
  secret: findSecrets,
  iban: findIbans,
  card: findCards,
  national_id: findNationalIds,
  email: findEmails,
  phone: findPhones,
};

/**
 * Returns the findings of these kinds in the order of the text. Overlapping findings become one, of the kind of the
 * first: the digits within an IBAN are not a card number.
 */
export function findAll(text: string, kinds: readonly FindingKind[]): Finding[] {
  const wanted = findingKinds.filter((kind) => kinds.includes(kind));
  const found = wanted.flatMap((kind) => finders[kind](text).map((span): Finding => ({ ...span, kind })));
  const rank = (kind: FindingKind): number => findingKinds.indexOf(kind);
  const ordered = found.toSorted((a, b) => a.start - b.start || rank(a.kind) - rank(b.kind) || b.end - a.end);
  const kept: Finding[] = [];
  for (const finding of ordered) {
    const last = kept.at(-1);
    if (last === undefined || finding.start >= last.end) kept.push(finding);
    // A password before an at sign is not the local part of an e-mail address.
    else if (finding.end > last.end && !(finding.kind === 'email' && text[last.end] === '@'))
      kept[kept.length - 1] = { ...last, end: finding.end };
  }
  return kept;
}
