import type { RouteCount } from "../../../runtime/gateway/live-figures.ts";
import { policiesText } from "../../../templates/policies/parts/chain.ts";
import { type BackendKind, backendOf } from "../../backends/index.ts";
import { totals } from "../../diagnostics/report/findings.ts";
import { textReport } from "../../diagnostics/report/text.ts";
import { type Html, html } from "../../html/html.ts";
import { policiesBefore } from "../../ir/access.ts";
import type { BackendNode, TcpBackendNode } from "../../ir/backends.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { BindNode, ListenerNode, RouteNode } from "../../ir/program.ts";
import type { TcpBindNode, TcpListenerNode, TcpRouteNode } from "../../ir/tcp.ts";
import type { RouteMatch } from "../../model/matches.ts";
import { backendLine } from "./backend-line.ts";
import { lineOf, place } from "./places.ts";
import type { LiveView } from "./view.ts";

/** The front page: the last change, and every port with its listeners, routes and figures. */
export function overview(view: LiveView): Html {
  const { binds, tcp } = view.current.program;
  return html`${lastChange(view)}${binds.map((bind) => port(bind, view))}${tcp.map((bind) => tcpPortSection(bind, view))}${unrouted(view)}
<footer>Served since ${view.servedSince.toLocaleString("en-GB")}, ${amount(view.current.modules.length, "module")} of generated code.</footer>`;
}

function lastChange({ lastChange: { at, findings, problem } }: LiveView): Html {
  if (problem === undefined && findings.length === 0) return html``;
  const time = at.toLocaleTimeString("en-GB");
  const report = findings.length === 0 ? (problem ?? "") : textReport(findings, false);
  const title = problem === undefined ? totals(findings) : "The last edit was not applied";
  const what =
    problem === undefined
      ? html`<small>since ${time}</small>`
      : html`<small>${time}: the gateway below is the last good one</small>`;
  const kind = problem === undefined ? "card notice mild" : "card notice";
  return html`<section class="${kind}"><h2>${title} ${what}</h2><pre>${report.trimEnd()}</pre></section>`;
}

function port(bind: BindNode, view: LiveView): Html {
  return html`${bind.listeners.map((listener) => listenerTable(bind, listener, view))}`;
}

function listenerTable(bind: BindNode, listener: ListenerNode, view: LiveView): Html {
  const { port: number, tls } = bind;
  const scheme = tls !== undefined ? "https" : "http";
  const host = listener.hostname === "*" ? "every host" : listener.hostname;
  const rows = listener.routes.map((route) => routeRow(route, listener, view));
  return html`
<h2>Port ${number} <small>${listener.name}: ${scheme}, ${host}, ${place(listener.origin, view)}</small></h2>
${beforeRouting(listener, view)}<div class="card"><table>
<thead><tr><th>Route</th><th>Matches</th><th>Policies, in request order</th><th>Backend</th>
<th class="figure">Requests</th><th class="figure">4xx</th><th class="figure">5xx</th><th class="figure">p50</th><th class="figure">p99</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
}

function routeRow(route: RouteNode, listener: ListenerNode, view: LiveView): Html {
  const code = view.current.routeModules.get(route.id) ?? "main.ts";
  const matches = listener.table.flatMap(({ hostname, entries }) =>
    entries
      .filter((entry) => entry.route === route.id)
      .map(({ match }) => html`<div>${matchText(hostname, match)}</div>`),
  );
  const policies = chips(route.policies, view);
  const shown =
    policies.length === 0 ? html`<span class="chip none">none</span>` : html`${policies}`;
  const count = view
    .routes()
    .find((each) => each.listener === listener.name && each.route === route.name);
  return html`<tr>
<td><a href="/ui/code/${code}">${route.name}</a> <a class="try" href="/ui/try/${route.id}">try</a><span class="place">${place(route.origin, view)}</span></td>
<td>${matches}</td><td><div class="chips">${shown}</div></td>
<td class="backend">${route.backends.map((node) => backendLines(node, route, view))}</td>${figures(count)}</tr>`;
}

function chips(policies: readonly PolicyUse[], view: LiveView): readonly Html[] {
  return policies.map(
    (use) =>
      html`<span class="chip" title="${place(use.origin, view)}">${policiesText([use])} <i>:${lineOf(use.origin, view)}</i></span>`,
  );
}

/** Renders the steps of a listener before it chooses a route. */
function beforeRouting(listener: ListenerNode, view: LiveView): Html {
  const policies = policiesBefore(listener);
  if (policies.length === 0) return html``;
  return html`<p>Before routing: <span class="chips">${chips(policies, view)}</span></p>`;
}

function figures(count: RouteCount | undefined): Html {
  const { requests = 0, errors = 0, refused = [], p50 = 0, p99 = 0 } = count ?? {};
  const time = (seconds: number): string => (requests === 0 ? "-" : milliseconds(seconds));
  const errorCell =
    errors === 0
      ? html`<td class="figure soft">0</td>`
      : html`<td class="figure"><span class="pill bad">${errors}</span></td>`;
  return html`<td class="figure">${requests}</td>${refusedCell(refused)}${errorCell}<td class="figure">${time(p50)}</td><td class="figure">${time(p99)}</td>`;
}

/** How many were refused, and why: by the gateway, or by an upstream. */
function refusedCell(refused: RouteCount["refused"]): Html {
  if (refused.length === 0) return html`<td class="figure soft">0</td>`;
  const total = refused.reduce((sum, { requests }) => sum + requests, 0);
  const byCause = Map.groupBy(refused, ({ status, reason }) => `${status} ${reason || "upstream"}`);
  const lines = Array.from(
    byCause,
    ([cause, each]) =>
      html`<span class="place">${cause}: ${each.reduce((sum, { requests }) => sum + requests, 0)}</span>`,
  );
  return html`<td class="figure">${total}${lines}</td>`;
}

/** Requests that no route answered. */
function unrouted(view: LiveView): Html {
  const count = view.routes().find(({ route }) => route === "unknown");
  return count === undefined
    ? html``
    : html`<p class="soft">${amount(count.requests, "request")} matched no route.</p>`;
}

function matchText(hostname: string, match: RouteMatch): Html {
  const { path, method, headers, query } = match;
  const conditions = [
    ...headers.map(({ name, value }) => `${name}: ${valueText(value)}`),
    ...query.map(({ name, value }) => `?${name}=${valueText(value)}`),
  ];
  const host = hostname === "*" ? "" : hostname;
  const pathText = {
    exact: path.value,
    prefix: path.value === "/" ? "/*" : `${path.value}/*`,
    regex: `~ ${path.value}`,
  }[path.kind];
  const command = method === undefined ? html`` : html`<span class="method">${method}</span> `;
  return html`${command}<code>${host}${pathText}</code>${conditions.map((each) => html` <code class="soft">${each}</code>`)}`;
}

function valueText({ kind, value }: RouteMatch["headers"][number]["value"]): string {
  return kind === "exact" ? value : `~${value}`;
}

function backendLines<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  { name, backends }: RouteNode,
  view: LiveView,
): Html {
  const states = view.servers().filter(({ route }) => route === name);
  const lines = backendOf(node.kind).describe(node);
  const share = shareOf(node, backends);
  return html`${lines.map((line) =>
    backendLine(
      line,
      states.find(({ server }) => server === line.server),
    ),
  )}${share === undefined ? html`` : html`<span class="place">${share}</span>`}`;
}

/** The share of a route's requests that one of several backends takes. */
function shareOf(node: BackendNode, all: readonly BackendNode[]): string | undefined {
  if (all.length < 2) return undefined;
  const [own = 1, ...weights] = [node, ...all].map((each) => ("weight" in each ? each.weight : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const percent = total === 0 ? 0 : Math.round((own / total) * 100);
  return `weight ${own}: ${percent} % of requests`;
}

function milliseconds(seconds: number): string {
  const value = seconds * 1000;
  return value < 10
    ? `${value.toFixed(1)} ms`
    : value < 10_000
      ? `${Math.round(value)} ms`
      : `${(value / 1000).toFixed(1)} s`;
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

const MODES = { plain: "tcp", passthrough: "tls, passed on", terminate: "tls" } as const;

/** A port whose bytes are passed on, with its listeners and where their connections go. */
function tcpPortSection({ port, mode, listeners }: TcpBindNode, view: LiveView): Html {
  return html`${listeners.map((listener) => {
    const name = listener.hostname === "*" ? "every name" : listener.hostname;
    // On a port where some TLS ends, the rest has no certificate here.
    const kind =
      mode.kind === "terminate" && listener.tls === undefined ? "passthrough" : mode.kind;
    const what = kind === "plain" ? MODES.plain : `${MODES[kind]}, ${name}`;
    return html`
<h2>Port ${port} <small>${listener.name}: ${what}, ${place(listener.origin, view)}</small></h2>
<div class="card"><table>
<thead><tr><th>Route of connections</th><th>Server names</th><th>Policies</th><th>Backend</th></tr></thead>
<tbody>${listener.routes.map((route) => tcpRouteRow(route, listener, view))}</tbody>
</table></div>`;
  })}`;
}

function tcpRouteRow(route: TcpRouteNode, { table }: TcpListenerNode, view: LiveView): Html {
  const code = view.current.routeModules.get(route.id) ?? "main.ts";
  const names = table
    .filter((entry) => entry.route === route.id)
    .map(({ hostname }) => html`<div><code>${hostname}</code></div>`);
  const policies = route.policies.map(
    ({ kind, origin }) =>
      html`<span class="chip" title="${place(origin, view)}">${kind} <i>:${lineOf(origin, view)}</i></span>`,
  );
  const shown =
    policies.length === 0 ? html`<span class="chip none">none</span>` : html`${policies}`;
  return html`<tr>
<td><a href="/ui/code/${code}">${route.name}</a><span class="place">${place(route.origin, view)}</span></td>
<td>${names}</td><td><div class="chips">${shown}</div></td>
<td class="backend">${route.backends.map(connectionLine)}</td></tr>`;
}

function connectionLine<Kind extends BackendKind>(node: TcpBackendNode<Kind>): Html {
  return backendLine(backendOf<Kind>(node.kind).describeTcp?.(node) ?? {});
}
