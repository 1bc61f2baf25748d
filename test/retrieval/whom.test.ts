import { describe, expect, it } from 'vitest';
import type { Introduction, KnownPeople } from '../../src/db/queries/known-people.ts';
import { readExpectedAnswer } from '../../src/retrieval/query/expected-answer.ts';
import { readQuestion, resolveWhom, type Question, type Whom } from '../../src/retrieval/query/whom.ts';

const told: Introduction[] = [
  { subject: "user's daughter", content: "User's daughter Signe is a nurse in Bergen" },
  { subject: 'Signe', content: 'Signe works nights' },
  { subject: 'user', content: 'User is married to Halvor' },
  { subject: 'Halvor', content: 'Halvor mends clocks' },
  { subject: "Halvor's mother", content: "Halvor's mother Ragna lives above the bakery" },
  { subject: 'Ragna', content: 'Ragna walks with a frame' },
  { subject: 'Brunost', content: 'Horse: Brunost, nine years old' },
  { subject: 'Brunost', content: 'Shod every seven weeks' },
  { subject: 'user', content: 'The user is called Torbjørn Lie' },
  { subject: 'Anders Moe', content: 'Anders Moe owns the boatyard' },
  { subject: 'user', content: 'User meets Kjersti for tea on Mondays' },
];

/** Asks about these memories, which are few enough for each to come with the question. */
function resolve(text: string, introductions: readonly Introduction[] = told): Whom {
  const question = readQuestion(text) as Question;
  const keys = [...new Set(introductions.map(({ subject }) => subject.toLowerCase().replaceAll(' ', '_')))];
  const subjects = introductions
    .map(({ subject }) => subject)
    .filter((subject) => question.keys.includes(subject.toLowerCase().replaceAll(' ', '_')));
  const known: KnownPeople = { subjects, own: [], introductions: [...introductions], known: keys };
  return resolveWhom(question, known);
}

describe('whom a question is about', () => {
  it('is the relative whom a sentence introduces, by name and by relation', () => {
    const byRelation = resolve('What does my daughter do?');

    expect(byRelation.kind).toBe('relation');
    expect([...byRelation.subjects].toSorted()).toEqual(['signe', "user's_daughter"]);
    expect(byRelation.names).toContain('signe');
    expect(byRelation.meaning).toBe('What does do?');
    expect(resolve('What does Signe do?')).toMatchObject({ kind: 'named', names: ['signe'] });
  });

  it('is the spouse of "is married to"', () => {
    expect(resolve('What does my husband mend?')).toMatchObject({ kind: 'relation', names: ['halvor'] });
    expect(resolve('What does my wife mend?').names).toEqual(['halvor']);
  });

  it("tells the user's relations from those of others", () => {
    expect(resolve("Where does Halvor's mother live?").subjects).toEqual(new Set(["halvor's_mother", 'ragna']));
    expect(resolve('Where does my mother live?')).toMatchObject({ kind: 'self' });
  });

  it('is an animal that is introduced in a list', () => {
    expect(resolve('How often is the horse shod?').subjects).toEqual(new Set(['brunost']));
  });

  it('is the user, by the name that a sentence tells', () => {
    expect(resolve('What does Torbjørn do on Mondays?').kind).toBe('user');
  });

  it('is a subject of two names by one of them', () => {
    expect(resolve('What does Anders own?')).toMatchObject({ kind: 'named', subjects: new Set(['anders_moe']) });
  });

  it('is not whom a subject only belongs to', () => {
    const sister: Introduction = { subject: "Ulrik's sister Vigdis", content: "Ulrik's sister Vigdis binds books" };

    expect(resolve("What is Ulrik's trade?", [sister])).toMatchObject({ kind: 'mentioned' });
    expect(resolve("What is Vigdis's trade?", [sister])).toMatchObject({ names: ['ulrik', 'sister', 'vigdis'] });
  });

  it('may be the user, as long as nothing tells what the user is called or introduces the person', () => {
    const unnamed: Introduction[] = [
      { subject: 'Torbjørn Lie', content: 'Torbjørn Lie, 58, mends nets at Kalvåg' },
      { subject: 'user', content: "User's son Eirik fishes for cod" },
      { subject: 'Eirik', content: 'Eirik owns a red boat' },
    ];

    expect(resolve('Where does Torbjørn work?', unnamed).kind).toBe('perhapsUser');
    expect(resolve('What does Eirik own?', unnamed).kind).toBe('named');
    expect(resolve("What does Torbjørn's son do?", unnamed)).toMatchObject({ kind: 'relation', names: ['eirik'] });
    const named = { subject: 'user', content: 'User introduced herself as Ingrid Moe' };
    expect(resolve('Where does Torbjørn work?', [...unnamed, named]).kind).toBe('named');
    expect(resolve('Where does Ingrid work?', [...unnamed, named]).kind).toBe('user');
  });

  it('is a child by the sentence that names all children', () => {
    const children = { subject: 'user', content: 'User has two children: Aksel and Liv' };

    expect(resolve('What does my son do?', [children])).toMatchObject({ kind: 'relation', names: ['aksel'] });
  });

  it('is somebody who is mentioned and no subject', () => {
    expect(resolve('When do we meet Kjersti?')).toMatchObject({ kind: 'mentioned', names: ['kjersti'] });
  });

  it('is nobody where a kind of animal or person is meant, or a day', () => {
    for (const text of ['Why do horses sleep standing?', 'What do nurses earn?', 'What is open on Sunday?'])
      expect(resolve(text, [])).toMatchObject({ kind: 'open', isPersonal: false });
  });
});

describe('what a question wants to be told', () => {
  it.each([
    ['Who shoes the horse?', { who: true, name: true, fact: true }],
    ['How much is the rent?', { amount: true, fact: true, advice: false }],
    ['What should I order for her?', { fact: false, advice: true }],
    ['Book a table for two', { advice: true }],
  ])('%s', (text, expected) => {
    expect(readExpectedAnswer(text)).toMatchObject(expected);
  });
});
