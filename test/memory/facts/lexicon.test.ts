import { describe, expect, test } from 'vitest';
import { findGloss, predicateGroups, predicateKey } from '../../../src/memory/facts/lexicon.ts';
import { normalisePredicate } from '../../../src/memory/facts/predicate-names.ts';

describe('the lexicon of predicates', () => {
  test('has each name once, in its normalised form', () => {
    const names = predicateGroups.flatMap((group) => group.names);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => normalisePredicate(name) !== name)).toEqual([]);
  });

  test('has a short gloss for each group', () => {
    const tooLong = predicateGroups.filter(({ gloss }) => gloss === '' || gloss.split(/[\s,]+/).length > 14);
    expect(tooLong).toEqual([]);
    expect(predicateGroups.length).toBeGreaterThan(200);
  });

  test('gives the names of a group one key, which is its canonical name', () => {
    for (const { key, names } of predicateGroups) expect(new Set(names.map(predicateKey))).toEqual(new Set([key]));
  });

  test.each(['name', 'dietary_restriction', 'current_interest', 'recent_meal', 'medication_schedule', 'birthday'])(
    'leaves the predicate %s of the specification under its own name',
    (predicate) => {
      expect(predicateKey(predicate)).toBe(predicate);
    },
  );

  test.each([
    ['homeCity', 'lives_in'],
    ["user's phone number", 'phone'],
    ['Favourite Colour', 'favorite_color'],
    ['name_of_employer', 'employer'],
    ['work_telephone_no', 'work_phone'],
    ["wife's birthday", 'wifes_birthday'],
    ['where_does_the_user_live', 'lives_in'],
    ['mother_in_law_name', 'mother_in_law'],
    ['is_allergic_to', 'allergies'],
    ['passport_expiration_date', 'passport_expiry'],
    ['Gate Code', 'gate-code'],
  ])('joins %s and %s', (one, other) => {
    expect(predicateKey(one)).toBe(predicateKey(other));
  });

  test.each([
    ['former_employer', 'employer'],
    ['work_phone', 'phone'],
    ['new_phone', 'phone'],
    ['mother_in_law', 'mother'],
    ['ex_wife', 'wife'],
    ['her_birthday', 'birthday'],
    ['lived_in', 'lives_in'],
    ['has_car', 'car'],
    ['dog_name', 'dog'],
    ['number_of_children', 'children'],
    ['current_account', 'account'],
    ['user_name', 'name'],
    ['hobbies', 'hobby'],
    ['emergency_contact', 'contact'],
    ['backup_email', 'email'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(predicateKey(one)).not.toBe(predicateKey(other));
  });

  test('leaves the digest of a note and names that it does not know', () => {
    expect(predicateKey('note_0123456789abcdef')).toBe('note_0123456789abcdef');
    expect(predicateKey('Sprinkler  Zone-Count')).toBe('sprinkler_zone_count');
    expect(predicateKey(' !? ')).toBe('!?');
  });

  test('explains the known parts of a name that it does not know', () => {
    expect(findGloss('winter_tyres')).toBe(findGloss('tires'));
    expect(findGloss('zzz')).toBe('');
  });
});
