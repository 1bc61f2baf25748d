import { describe, expect, it } from 'vitest';
import { hasCondition } from '../../../src/memory/rules/rule-condition.ts';

/** Written before the function that tells them apart. */
const standing = [
  'Never share the alarm code with visitors',
  'Confirm with the user before paying for anything',
  'Answer in short sentences',
  'Use metric units',
  'Do not read private messages aloud.',
  'Address the user by first name',
  'Write to Dana Whitfield in German',
  'Ask for the address only once',
  'Wait until the user has answered',
  'Tell the truth even if it hurts',
  'Spell "when" with a small letter in titles',
  'Book window seats unless told otherwise',
  'From now on, write dates in full',
  'In general, be brief',
  'At all times, keep the gate locked',
  'By default, use the home address',
  'To save power, switch the heater off',
  'If in doubt, ask',
  'Choose the train if possible',
  'Be brief. When more is wanted, it will be asked for.',
  'The user wants to be called by her first name',
  'ANTI-PATTERN: Do NOT call the landline. This caused problems because: it woke the baby when she slept',
];

const conditional = [
  'If the doorbell rings late, wake nobody',
  'When the user says "quiet", mute every speaker',
  'Mute the speakers whenever a call comes in',
  'On Sundays, let the user sleep',
  'On weekdays wake the user at seven',
  'Call the office on Mondays',
  'Keep the hallway dark at night',
  'Open the blinds in the morning',
  'During meetings, hold all notifications',
  'While the baby sleeps, keep the volume low',
  'In case of a power cut, call the caretaker',
  'Before a flight, check the weather at the destination',
  'After dinner, dim the lights',
  'For invoices, use the company address',
  'In emails, sign as the household',
  'As soon as a parcel arrives, tell the user',
  'In winter, heat the bathroom early',
  'Once the guests have left, lock the gate',
  'With guests in the house, speak formally',
  'Should the alarm go off, call the neighbour',
  'Do not call the landline unless it is urgent',
  'Always, when a train is late, look for another',
  'ANTI-PATTERN: Do NOT open the window when it rains. This caused problems because: the floor got wet',
];

describe('the condition of a rule', () => {
  it.each(standing)('is not in: %s', (content) => {
    expect(hasCondition(content)).toBe(false);
  });

  it.each(conditional)('is in: %s', (content) => {
    expect(hasCondition(content)).toBe(true);
  });

  it('is found in a long text without going through it again and again', () => {
    expect(hasCondition(`In ${'a '.repeat(10_000)}`)).toBe(false);
  });
});
