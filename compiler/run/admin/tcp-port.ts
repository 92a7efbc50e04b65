import { type BackendKind, backendOf } from "../../backends/index.ts";
import type { TcpBackendNode } from "../../ir/backends.ts";
import type { TcpBindNode, TcpListenerNode, TcpRouteNode } from "../../ir/tcp.ts";
import { backendLine } from "./backend-line.ts";
import { type Html, html } from "./html.ts";
import { lineOf, place } from "./places.ts";
import type { LiveView } from "./view.ts";

const MODES = { plain: "tcp", passthrough: "tls, passed on", terminate: "tls" } as const;

/** A port whose bytes are passed on, with its listeners and where their connections go. */
export function tcpPortSection({ port, mode, listeners }: TcpBindNode, view: LiveView): Html {
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
<tbody>${listener.routes.map((route) => routeRow(route, listener, view))}</tbody>
</table></div>`;
  })}`;
}

function routeRow(route: TcpRouteNode, { table }: TcpListenerNode, view: LiveView): Html {
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
