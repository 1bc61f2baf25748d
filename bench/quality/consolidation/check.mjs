// Checks the development data: valid JSON, unique ids, patterns that compile, patterns that match their own sentence, dates on the named weekday, counts.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
const dir = path.dirname(fileURLToPath(import.meta.url));
let problems = 0;
const bad = (...m) => {
  problems += 1;
  console.log('PROBLEM', ...m);
};
const load = (n) => JSON.parse(fs.readFileSync(path.join(dir, n), 'utf8'));
const re = (p, where) => {
  try {
    return new RegExp(p, 'iu');
  } catch (e) {
    bad(where, 'pattern does not compile', p, e.message);
    return /$^/;
  }
};
const halves = ['development', 'held-out'];
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const ids = new Set();
const once = (id) => {
  if (!id || ids.has(id)) bad('id missing or repeated', id);
  ids.add(id);
};
// Notes quote texts, so those of the held-out half are printed only with --held-out.
let quiet = false;
const note = (...m) => {
  if (!quiet) console.log(...m);
};
const total = {};
const add = (k, n = 1) => {
  total[k] = (total[k] ?? 0) + n;
};

for (const half of halves) {
  quiet = half === 'held-out' && !process.argv.includes('--held-out');
  const texts = load(`texts.${half}.json`);
  const seen = new Set();
  for (const t of texts) {
    once(t.id);
    if (seen.has(t.content)) bad(t.id, 'content repeated');
    seen.add(t.content);
    if (!t.content || Number.isNaN(Date.parse(t.observedAt)) || !['summary', 'speech'].includes(t.style))
      bad(t.id, 'field');
    if (t.keep.length > 4) bad(t.id, 'more than four items');
    add(`texts ${half}`);
    add(`texts ${half} ${t.style}`);
    if (!t.keep.length) add(`texts ${half} empty`);
    for (const k of t.keep) {
      add(`items ${half} ${k.kind}`);
      if (k.ends) add(`items ${half} with ends`);
      if (!k.says || !k.subject || !k.must.length || !['fact', 'rule'].includes(k.kind))
        bad(t.id, 'item field', k.says);
      for (const p of k.must) if (!re(p, t.id).test(k.says)) bad(t.id, 'must does not match', p, '::', k.says);
      for (const p of k.mustNot ?? []) if (re(p, t.id).test(k.says)) bad(t.id, 'mustNot matches', p, '::', k.says);
      for (const p of t.never ?? []) if (re(p, t.id).test(k.says)) bad(t.id, 'never matches', p, '::', k.says);
      // Another item of the same text must not satisfy every must of this one.
      for (const o of t.keep)
        if (
          o !== k &&
          k.must.every((p) => re(p, t.id).test(o.says)) &&
          !(k.mustNot ?? []).some((p) => re(p, t.id).test(o.says))
        )
          note('note', t.id, 'is also satisfied by', JSON.stringify(o.says), 'for', JSON.stringify(k.says));
      for (const d of k.says.match(/\d{4}-\d{2}-\d{2}/g) ?? []) {
        const day = DAYS[new Date(`${d}T00:00Z`).getUTCDay()];
        const named = DAYS.filter((x) => new RegExp(`\\b${x}\\b`, 'i').test(t.content));
        if (named.length && !named.includes(day))
          note(
            'date?',
            t.id,
            t.observedAt,
            DAYS[new Date(t.observedAt).getUTCDay()],
            '| says',
            d,
            day,
            '| text names',
            named.join(),
            '|',
            k.says,
          );
      }
    }
    for (const p of t.never ?? [])
      if (!re(p, t.id).test(t.content)) note('note', t.id, 'never pattern is not in the content:', p);
  }
  for (const [name, min] of [
    ['note-changes', 22],
    ['foreign', 25],
  ])
    if (fs.existsSync(path.join(dir, `${name}.${half}.json`))) {
      const list = load(`${name}.${half}.json`);
      add(`${name} ${half}`, list.length);
      if (list.length < min) bad(name, half, 'too few');
      for (const x of list) {
        once(x.id);
        if (name === 'note-changes') {
          add(`${name} ${half} ${x.relation}`);
          if (!['changes', 'repeats', 'unrelated'].includes(x.relation)) bad(x.id, x.relation);
          if (!(Date.parse(x.first.observedAt) < Date.parse(x.second.observedAt))) bad(x.id, 'order of dates');
          if (!x.first.text || !x.second.text) bad(x.id, 'text');
        } else {
          if (!x.content || !x.never.length) bad(x.id, 'field');
          for (const p of x.never)
            if (!re(p, x.id).test(x.content)) bad(x.id, 'never pattern is not in the content', p);
          for (const m of x.may ?? []) {
            if (!re(m, x.id).test(x.content)) bad(x.id, 'may pattern is not in the content', m);
          }
          if (x.segments) {
            add(`${name} ${half} with segments`);
            for (const s of x.segments) {
              if (!['user', 'assistant', 'tool', 'document'].includes(s.speaker)) bad(x.id, s.speaker);
              if (!x.content.includes(s.text)) bad(x.id, 'segment is not in the content', s.text.slice(0, 40));
            }
          }
        }
      }
    }
  if (fs.existsSync(path.join(dir, `agent-store.${half}.json`))) {
    const s = load(`agent-store.${half}.json`);
    add(`agent-store ${half} sessions`, s.sessions.length);
    add(
      `agent-store ${half} stored`,
      s.sessions.reduce((n, x) => n + x.stored.length, 0),
    );
    add(`agent-store ${half} wrong`, s.wrong.length);
    let last = 0;
    for (const x of s.sessions) {
      const t = Date.parse(x.observedAt);
      if (!(t > last)) bad('agent-store', half, x.observedAt, 'order');
      last = t;
      if (!x.butler || !x.summary) bad('agent-store', x.observedAt);
      for (const f of x.stored) if (!f.subject || !f.predicate || !f.content) bad('agent-store', x.observedAt, 'fact');
    }
    const live = new Map();
    for (const x of s.sessions)
      for (const f of x.stored) live.set(`${f.subject}|${f.predicate}`, `${f.subject} ${f.predicate} ${f.content}`);
    for (const p of s.wrong) {
      const r = re(p, 'wrong');
      for (const v of live.values())
        if (r.test(v)) bad('agent-store', half, 'wrong pattern matches a live stored fact', p, '::', v);
    }
  }
  if (fs.existsSync(path.join(dir, `sentences.${half}.json`))) {
    const list = load(`sentences.${half}.json`);
    const min = half === 'development' ? 600 : 300;
    if (list.length < min) bad('sentences', half, 'too few', list.length);
    add(`sentences ${half}`, list.length);
    for (const s of list) {
      if (
        !s.text ||
        typeof s.keep !== 'boolean' ||
        !'identity|preference|relation|possession|plan|state|health|schedule|instruction|smalltalk|request|lookup|hedge|session|opinion'
          .split('|')
          .includes(s.label)
      )
        bad('sentence', JSON.stringify(s));
      const key = `s:${s.text.toLowerCase()}`;
      if (ids.has(key)) bad('sentence repeated', s.text);
      ids.add(key);
      add(`sentences ${half} ${s.label}`);
      add(`sentences ${half} keep ${s.keep}`);
    }
  }
}
{
  // People, each with known notes and notes that came weeks later and change a known one, repeat one or do neither.
  const sets = {
    stores: { people: 14, known: 30, facts: 5, changes: 10, repeats: 3, neither: 9 },
    'stores-2': { people: 9, known: 24, facts: 0, changes: 8, repeats: 3, neither: 13 },
    'stores-3': { people: 9, known: 24, facts: 0, changes: 8, repeats: 3, neither: 13 },
  };
  const texts = new Set();
  const checkText = (name, text) => {
    if (typeof text !== 'string' || !text.trim()) bad(name, 'text must not be blank', text);
    else if (texts.has(text.toLowerCase())) bad(name, 'text repeated', text);
    else texts.add(text.toLowerCase());
  };
  for (const [set, expected] of Object.entries(sets)) {
    const stores = load(`${set}.development.json`);
    if (stores.length !== expected.people) bad(set, `must be ${expected.people}`, stores.length);
    for (const { name, known, said } of stores) {
      once(name);
      const facts = known.filter((item) => typeof item !== 'string');
      if (known.length !== expected.known) bad(name, `must have ${expected.known} known notes`, known.length);
      if (facts.length !== expected.facts) bad(name, `must have ${expected.facts} stored facts`, facts.length);
      for (const item of known) {
        if (typeof item !== 'string' && !(item.subject && item.predicate && item.content))
          bad(name, 'fact field', item);
        checkText(name, typeof item === 'string' ? item : `${item.subject} | ${item.predicate} | ${item.content}`);
      }
      const counts = { changes: 0, repeats: 0, neither: 0 };
      for (const { text, changes, repeats, note: reason } of said) {
        checkText(name, text);
        if (reason !== undefined && !reason) bad(name, 'note must not be blank', text);
        if (changes.length > 2 || repeats.length > 1) bad(name, 'too many indexes', text);
        if (changes.length && repeats.length) bad(name, 'both changes and repeats', text);
        counts[changes.length ? 'changes' : repeats.length ? 'repeats' : 'neither'] += 1;
      }
      const indexes = said.flatMap(({ changes, repeats }) => [...changes, ...repeats]);
      for (const index of indexes)
        if (!(Number.isInteger(index) && known[index])) bad(name, 'index out of range', index);
      // A note that is changed twice or both changed and repeated would make the result depend on the order.
      if (new Set(indexes).size !== indexes.length) bad(name, 'known note is named twice', indexes.join());
      for (const [relation, n] of Object.entries(counts)) {
        if (n !== expected[relation]) bad(name, relation, `must be ${expected[relation]}`, n);
        add(`${set} said ${relation}`, n);
      }
      add(`${set} said`, said.length);
      add(`${set} known changed`, said.flatMap(({ changes }) => changes).length);
    }
  }
}
// Checks the pairs. Rejects a repeated pair, because it would weigh twice in training or carry two labels.
for (const name of ['pairs', 'pairs-2', 'pairs-3', 'pairs-validation']) {
  const list = load(`${name}.development.json`);
  add(name, list.length);
  for (const pair of list) {
    const { first, second, relation } = pair;
    const isFact = typeof first === 'object' && first?.subject && first.predicate && first.content;
    if (!(isFact || (typeof first === 'string' && first)) || typeof second !== 'string' || !second)
      bad(name, 'field', JSON.stringify(pair));
    if (!['changes', 'repeats', 'beside'].includes(relation)) bad(name, 'relation', JSON.stringify(pair));
    const key = `p:${JSON.stringify([first, second])}`;
    if (ids.has(key)) bad(name, 'pair repeated', JSON.stringify(pair));
    ids.add(key);
    add(`${name} ${relation}`);
  }
}
{
  // Checks the labelled sessions. The spans must cover the content in order: the score compares items with spans only.
  const contents = new Set();
  for (const [place, expected] of [170, 170, 160, 200, 198, 150].entries()) {
    const name = `sessions-${place + 1}`;
    const sessions = load(`${name}.development.json`);
    if (sessions.length !== expected) bad(name, `must be ${expected}`, sessions.length);
    add(name, sessions.length);
    for (const { observedAt, content, spans } of sessions) {
      if (!content || Number.isNaN(Date.parse(observedAt)) || !spans?.length) bad(name, 'field', observedAt);
      if (contents.has(content)) bad(name, 'content repeated', observedAt);
      contents.add(content);
      let end = 0;
      for (const { text, keep } of spans) {
        add(`${name} ${keep}`);
        if (!['fact', 'rule', 'no'].includes(keep)) bad(name, observedAt, 'keep', keep);
        const start = content.indexOf(text, end);
        if (!text?.trim() || start < 0 || content.slice(end, start).trim())
          bad(name, observedAt, 'span must follow the one before it', text);
        end = start + text.length;
      }
      if (content.slice(end).trim()) bad(name, observedAt, 'spans must cover the content');
      if (spans.every(({ keep }) => keep === 'no')) add(`${name} with nothing to keep`);
    }
  }
  if (total['sessions-4 rule'] < 130) bad('sessions-4', 'must have 130 rules', total['sessions-4 rule']);
  // Set 5 labels the summaries of eight months: the texts must be theirs, and what is kept must hold every answer.
  const labelled = load('sessions-5.development.json');
  let first = 0;
  for (const month of [1, 2, 3, 6, 7, 8, 9, 10]) {
    const { episodes, questions } = load(`../months/month-${month}.development.json`);
    const own = labelled.slice(first, first + episodes.length);
    first += episodes.length;
    for (const [place, { observed_at: observedAt, content }] of episodes.entries())
      if (own[place]?.content !== content || own[place].observedAt !== observedAt)
        bad('sessions-5', 'differs from month', month, 'episode', place);
    const kept = own.map(({ spans }) => spans.filter(({ keep }) => keep !== 'no'));
    for (const { id, q, must, from } of questions.filter((question) => question.from?.length)) {
      add('sessions-5 answers');
      const said = from.flatMap((place) => kept[place].map(({ text }) => text)).join('\n');
      for (const p of must)
        if (!re(p, 'sessions-5').test(said)) bad('sessions-5', 'answer is not kept', month, id, q, p);
    }
  }
  if (first !== labelled.length) bad('sessions-5', 'must hold the episodes of the months only', labelled.length);
  if (total['sessions-6 rule'] < 65) bad('sessions-6', 'must have 65 rules', total['sessions-6 rule']);
  if (total['sessions-6 with nothing to keep'] < 40) bad('sessions-6', 'must have 40 sessions with nothing to keep');
  for (const name of ['sessions-4', 'sessions-6']) {
    const sentences = load(`${name}.development.json`).flatMap(({ spans }) => spans.map(({ text }) => text));
    for (const [place, text] of sentences.entries())
      if (sentences.indexOf(text) !== place) bad(name, 'span repeated', text);
  }
}
console.log(total);
console.log(problems ? `${problems} problems` : 'no problems');
process.exitCode = problems ? 1 : 0;
