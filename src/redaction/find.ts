import { findCards } from './cards.ts';
import { findEmails } from './emails.ts';
import { findingKinds, Meter, type Finder, type Finding, type FindingKind } from './finding.ts';
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
 * All of some kinds, in the order of the text. Those that overlap are one, of the kind of the first of them: the digits
 * within an IBAN are no card.
 */
export function findAll(text: string, kinds: readonly FindingKind[], meter = new Meter()): Finding[] {
  const found = findingKinds.flatMap((kind) => (kinds.includes(kind) ? finders[kind](text, meter) : []));
  const rank = new Map(findingKinds.map((kind, place) => [kind, place]));
  const ordered = found.toSorted(
    (a, b) => a.start - b.start || (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0) || b.end - a.end,
  );
  const kept: Finding[] = [];
  for (const finding of ordered) {
    const last = kept.at(-1);
    if (last === undefined || finding.start >= last.end) kept.push(finding);
    // A password before an at sign is not the name of an address.
    else if (finding.end > last.end && !(finding.kind === 'email' && text[last.end] === '@'))
      kept[kept.length - 1] = { ...last, end: finding.end };
  }
  return kept;
}
