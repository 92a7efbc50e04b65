import { type Html, html } from "../../html/html.ts";
import type { JournalEntry, SessionEntry } from "../journal.ts";
import type { LiveView } from "./view.ts";

/** Renders the requests in flight, the last ones, and the MCP sessions. */
export function requestsPage(view: LiveView): Html {
  const { journal } = view;
  const { entries, sessions } = journal;
  const rows = entries.map(entryRow);
  const requests =
    rows.length === 0
      ? html`<p class="soft">Nothing was asked yet.</p>`
      : html`<div class="card"><table>
<thead><tr><th>Time</th><th>Request</th><th>Route</th><th class="figure">Status</th><th>What decided</th><th class="figure">Took</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
  return html`<h2>Requests <small>the last ones; without queries, headers and bodies</small></h2>${waiting(view.waitingCalls())}${requests}${sessionTable(sessions)}`;
}

function waiting(count: number): Html {
  if (count === 0) return html``;
  return html`<p>MCP calls that wait for what their clients were asked: <strong>${count}</strong></p>`;
}

function entryRow(entry: JournalEntry): Html {
  const { at, client, method, host, path, route = "none", duration } = entry;
  const took =
    duration === undefined
      ? html`<span class="pill good">in flight</span>`
      : html`${Math.round(duration)} ms`;
  return html`<tr>
<td class="time">${at.toLocaleTimeString("en-GB")}<span class="place">${client}</span></td>
<td><span class="method">${method}</span> <code>${path}</code><span class="place">${host}</span></td>
<td>${route}</td><td class="figure">${status(entry)}</td><td>${verdict(entry)}</td><td class="figure">${took}</td></tr>`;
}

function status({ status: code, duration }: JournalEntry): Html {
  if (code === undefined) return html`${duration === undefined ? "" : "left"}`;
  return code < 400 ? html`${code}` : html`<span class="pill bad">${code}</span>`;
}

/** Why the gateway itself responded, or who did; then what is known of it. */
function verdict({ reason, upstream, notes }: JournalEntry): Html {
  const by = reason ?? upstream ?? "";
  const known = notes.map(([name, value]) => html`<div class="soft">${name}=${value}</div>`);
  return html`${reason === undefined ? html`<code>${by}</code>` : html`<strong>${by}</strong>`}${known}`;
}

function sessionTable(sessions: readonly SessionEntry[]): Html {
  if (sessions.length === 0) return html``;
  const rows = sessions.map(
    ({ name, route = "", subject = "", client, began, last, requests }) => html`<tr>
<td><code>${name}</code></td><td>${route}</td><td>${subject}</td><td><code>${client}</code></td>
<td>${began.toLocaleTimeString("en-GB")}</td><td>${last.toLocaleTimeString("en-GB")}</td><td class="figure">${requests}</td></tr>`,
  );
  return html`<h2>MCP sessions <small>by their names in the log, the one used last first</small></h2>
<div class="card"><table>
<thead><tr><th>Session</th><th>Route</th><th>Subject</th><th>Client</th><th>Since</th><th>Last request</th><th class="figure">Requests</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}
