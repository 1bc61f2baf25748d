import type { Config } from '../config/schema.ts';
import { packageManifest } from '../shared/package-root.ts';

interface Place {
  path: string;
  what: string;
}

const places: Place[] = [
  { path: '/graphql', what: 'GraphQL API, also over server-sent events and graphql-ws' },
  { path: '/mcp', what: 'MCP endpoint (Streamable HTTP) with the memory_* tools; not for a browser' },
  { path: '/healthz', what: 'whether the process is alive' },
  { path: '/readyz', what: 'whether database, migrations, model and queue are ready' },
  { path: '/metrics', what: 'figures for Prometheus: requests, schedules, the process' },
];

export function renderLandingPage({ butler }: Config): string {
  const rows = places.map(
    ({ path, what }) => `<tr><td><a href="${path}">${path}</a></td><td>${escapeHtml(what)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Butler Memory</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color: #1c1c1e; background: #fff }
  table { border-collapse: collapse; margin: 1.5rem 0 } td { padding: .35rem 1rem .35rem 0; vertical-align: top }
  a { color: #0a58ca } small { color: #5f5f66 }
  @media (prefers-color-scheme: dark) { body { color: #f2f2f4; background: #1c1c1e } a { color: #7db3ff } small { color: #a5a5ad } }
</style>
<h1>Butler Memory</h1>
<p>${escapeHtml(butler.description)}</p>
<table>${rows.join('')}</table>
<p><small>${escapeHtml(butler.name)}, version ${escapeHtml(packageManifest.version)}, ${butler.environment}</small></p>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
