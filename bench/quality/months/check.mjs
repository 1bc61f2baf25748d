// Checks the months: node check.mjs [-v]. Exit code 1 on a problem; -v lists which episodes each `not` matches.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
const dir = new URL('.', import.meta.url).pathname;
let bad = 0;
const fail = (m) => {
  bad++;
  console.log('PROBLEM', m);
};
for (const name of readdirSync(dir)
  .filter((f) => /^month-\d+\.(development|held-out)\.json$/.test(f))
  .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))) {
  const { asked_at, episodes, questions, forget } = JSON.parse(readFileSync(dir + name, 'utf8'));
  const factsFile = `${dir}${name.split('.')[0]}.facts.json`;
  const facts = existsSync(factsFile) ? JSON.parse(readFileSync(factsFile, 'utf8')) : { sessions: [] };
  const hits = (p) => episodes.flatMap((e, i) => (new RegExp(p, 'i').test(e.content) ? [i] : []));
  episodes.forEach((e, i) => {
    if (i && e.observed_at <= episodes[i - 1].observed_at) fail(`${name} order ${i}`);
  });
  if (!(asked_at > episodes.at(-1).observed_at)) fail(`${name} asked_at`);
  if (new Set(episodes.map((e) => e.butler)).size !== 3) fail(`${name} butlers`);
  const kinds = {};
  questions.forEach((q, i) => {
    kinds[q.kind] = (kinds[q.kind] ?? 0) + 1;
    if (q.id !== i + 1) fail(`${name} id ${q.id}`);
    const none = q.must[0] === 'unknown';
    if (none !== ['near', 'unrelated'].includes(q.kind)) fail(`${name} ${q.id} kind`);
    if (!none) {
      const source = q.from.map((f) => episodes[f].content).join('\n');
      for (const p of q.must) if (!new RegExp(p, 'i').test(source)) fail(`${name} ${q.id} must ${p} not in its source`);
      for (const p of q.quoted ? [] : q.not)
        if (new RegExp(p, 'i').test(source)) fail(`${name} ${q.id} not ${p} matches its source`);
    }
    if (process.argv[2] === '-v')
      console.log(
        `${q.id}. ${q.q}`,
        JSON.stringify(q.must.map((p) => [p, hits(p)])),
        'NOT',
        JSON.stringify(q.not.map((p) => [p, hits(p)])),
      );
  });
  for (const f of forget)
    for (const p of f.patterns) {
      const h = hits(p);
      if (h.some((i) => i >= f.after)) fail(`${name} forget ${p} ${h}`);
      if (!h.length) console.log(name, 'forget pattern without an episode:', p);
    }
  for (const s of facts.sessions) {
    if (!episodes[s.episode]) fail(`${name} facts ${s.episode}`);
    for (const { tool, arguments: a } of s.stored)
      if (
        !/^memory_store(_fact|_rule)?$/.test(tool) ||
        !a.content ||
        (tool === 'memory_store_fact' && !(a.subject && a.predicate))
      )
        fail(`${name} facts ${s.episode} ${tool}`);
  }
  console.log(
    name,
    JSON.stringify({
      episodes: episodes.length,
      questions: questions.length,
      answerable: questions.length - kinds.near - kinds.unrelated,
      ...kinds,
      factSessions: facts.sessions.length,
      facts: facts.sessions.flatMap((s) => s.stored).length,
    }),
  );
}
process.exit(bad ? 1 : 0);
