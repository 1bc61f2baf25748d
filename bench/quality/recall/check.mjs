// Checks the recall data: valid JSON, unique keys, existing answers, required counts, no duplicates. Run: node check.mjs
import { readFileSync } from 'node:fs';
const dir = new URL('.', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, dir), 'utf8'));
let problems = 0;
const fail = (text) => {
  problems += 1;
  console.log('PROBLEM', text);
};
const unique = (values, what) => {
  const seen = new Set();
  for (const v of values) {
    if (seen.has(v)) fail(`${what}: duplicate ${v}`);
    seen.add(v);
  }
};
const norm = (q) =>
  q
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim() || q;
const sets = {};
for (const [half, size, file] of [
  ['development', 20, 'facts-20.json'],
  ['development', 200, 'facts-200.json'],
  ['development', 2000, 'facts-2000.json'],
  ['held-out', 20, 'facts-20.held-out.json'],
  ['held-out', 200, 'facts-200.held-out.json'],
]) {
  const rows = read(file);
  sets[`${half} ${size}`] = new Map(rows.map((r) => [r.key, r]));
  if (rows.length !== size) fail(`${file}: ${rows.length} entries`);
  unique(
    rows.map((r) => r.key),
    file,
  );
  unique(
    rows.map((r) => (r.type === 'rule' ? r.content : `${r.subject}|${r.predicate}`)),
    `${file} subject/predicate`,
  );
  for (const r of rows) {
    const want =
      r.type === 'rule'
        ? 'content daysAgo importance key scope type'
        : 'content daysAgo importance key permanence predicate scope subject type';
    if (Object.keys(r).toSorted().join(' ') !== want) fail(`${file} ${r.key}: fields`);
    if (!(r.importance >= 1 && r.importance <= 10)) fail(`${file} ${r.key}: importance`);
    if (r.type === 'fact' && !/^[a-z][a-z0-9_]*$/.test(r.predicate)) fail(`${file} ${r.key}: predicate`);
    if (r.type === 'fact' && !['permanent', 'stable', 'standard', 'volatile', 'ephemeral'].includes(r.permanence))
      fail(`${file} ${r.key}: permanence`);
  }
  console.log(file, rows.length, 'rules', rows.filter((r) => r.type === 'rule').length);
}
for (const [key, row] of sets['development 200'])
  if (JSON.stringify(sets['development 2000'].get(key)) !== JSON.stringify(row)) fail(`facts-2000 differs at ${key}`);
const notes = read('notes.json');
unique(
  notes.flatMap((r) => [r.key, r.content]),
  'notes.json',
);
for (const r of notes) {
  const want =
    r.type === 'rule'
      ? 'content daysAgo importance key scope type'
      : 'content daysAgo importance key scope subject type';
  if (Object.keys(r).toSorted().join(' ') !== want) fail(`notes.json ${r.key}: fields`);
}
const all = [];
for (const file of ['notes-questions', 'notes-near', 'notes-unrelated']) {
  const questions = read(`${file}.development.json`);
  for (const { id, answers = [] } of questions)
    for (const a of answers) if (!notes.some((r) => r.key === a)) fail(`${id}: no ${a} in notes.json`);
  all.push(...questions);
  console.log(file, questions.length);
}
for (const [half, q, u, n] of [
  ['development', 130, 220, 60],
  ['held-out', 70, 100, 30],
]) {
  const questions = read(`questions.${half}.json`),
    unrelated = [...read(`unrelated.${half}.json`), ...read(`unrelated-2.${half}.json`)],
    near = read(`near.${half}.json`);
  if (questions.length < q || unrelated.length < u || near.length < n) fail(`${half}: too few`);
  for (const e of questions) {
    const set = sets[`${half} ${e.set}`];
    if (!e.answers.length) fail(`${e.id}: no answer`);
    for (const a of e.answers) if (!set.has(a)) fail(`${e.id}: no ${a} in ${half} ${e.set}`);
  }
  all.push(...questions, ...unrelated, ...near);
  const by = (size) => questions.filter((e) => e.set === size).length;
  console.log(
    half,
    'questions',
    questions.length,
    `(20: ${by(20)}, 200: ${by(200)}, rule answers: ${questions.filter((e) => e.answers.some((a) => sets[`${half} ${e.set}`].get(a)?.type === 'rule')).length})`,
    'unrelated',
    unrelated.length,
    'near',
    near.length,
  );
}
unique(
  all.map((e) => e.id),
  'ids',
);
unique(
  all.map((e) => norm(e.q)),
  'questions',
);
const pairs = {},
  names = {};
for (const half of ['development', 'held-out']) {
  pairs[half] = read(`predicate-pairs.${half}.json`);
  names[half] = new Set(pairs[half].flatMap((p) => [p.a, p.b]));
  for (const p of pairs[half])
    if (p.a === p.b || ![p.a, p.b].every((x) => /^[a-z][a-z0-9_]*$/.test(x)) || !p.contentA || !p.contentB)
      fail(`pair ${p.a} ${p.b}`);
  console.log(
    'pairs',
    half,
    'same',
    pairs[half].filter((p) => p.same).length,
    'different',
    pairs[half].filter((p) => !p.same).length,
  );
}
unique(
  [...pairs.development, ...pairs['held-out']].map((p) => (p.a < p.b ? [p.a, p.b] : [p.b, p.a]).join('|')),
  'pairs',
);
for (const name of names.development) if (names['held-out'].has(name)) fail(`predicate ${name} in both halves`);
console.log(problems ? `${problems} problems` : 'all checks passed');
process.exitCode = problems ? 1 : 0;
