import { type Html, html } from "../../html/html.ts";
import {
  type CredentialField,
  credentialOf,
  playgroundRoutes,
  speaksMcp,
} from "../playground/playground.ts";
import type { RouteRequest } from "../try-command.ts";
import type { LiveView } from "./view.ts";

/**
 * Renders the form for a request to a route; to the first route if none is named. `undefined` if there is no such
 * route.
 */
export function playgroundPage(view: LiveView, id: string): Html | undefined {
  const routes = playgroundRoutes(view.current.program);
  const found = id === "" ? routes[0] : routes.find(({ route }) => route.id === id);
  if (found === undefined) {
    return id === ""
      ? html`<p class="soft">No route can be tried from here: their paths are patterns, or their ports ask for client certificates.</p>`
      : undefined;
  }
  const links = routes.map(({ route }) => {
    const current = route === found.route ? html` aria-current="page"` : html``;
    return html`<li><a href="/ui/try/${route.id}"${current}>${route.name}</a></li>`;
  });
  return html`<div class="split">
<ul class="card">${links}</ul>
<div>${form(found)}<div id="result" aria-live="polite"></div></div>
</div>`;
}

function form(candidate: RouteRequest): Html {
  const { request, route } = candidate;
  const isMcp = speaksMcp(candidate);
  const { kind, value } = request.path;
  const path = isMcp && kind === "prefix" && value === "/" ? "/mcp" : value;
  const credential = credentialOf(request);
  return html`<form class="card" id="call" data-route="${route.id}" data-mcp="${isMcp ? "yes" : ""}">
<h2>${route.name} <small>${request.origin}, from this machine, as any client of it could</small></h2>
${isMcp ? html`` : html`<label>Method <select name="method">${methods(request.method)}</select></label>`}
<label>Path and query <input name="target" value="${path}${request.search}" spellcheck="false"></label>
${credential === undefined ? html`` : credentialField(credential)}
<label>Headers, one a line <textarea name="headers" rows="3" spellcheck="false">${request.headers.join("\n")}</textarea></label>
${isMcp ? toolFields : bodyField}
</form>`;
}

function methods(own: string | undefined): readonly Html[] {
  const all = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
  return all.map((name) =>
    name === own ? html`<option selected>${name}</option>` : html`<option>${name}</option>`,
  );
}

/** Without one the request is sent as nobody. */
function credentialField({ placeholder, label, encoding, owner }: CredentialField): Html {
  return html`<label>${label} <small>instead of <code>${placeholder}</code>; empty: nobody</small>
<input name="credential" type="password" autocomplete="off" data-placeholder="${placeholder}" data-encoding="${encoding}"></label>
<label>Or whose it is <small>for <em>Decide only</em>, which sends nothing: <code>${owner}</code>; empty: nobody</small>
<input name="identity" spellcheck="false" autocomplete="off"></label>`;
}

/** Shows what each policy does, as `gwc can` does. */
const decide = html`<button type="button" id="decide">Decide only</button>`;

const bodyField = html`<label>Body <textarea name="body" rows="4" spellcheck="false"></textarea></label>
<p><button type="submit">Send</button> ${decide}</p>`;

const toolFields = html`<label>As a client <select name="era">
<option value="sessions">with sessions (2025-06-18)</option><option value="stateless">without sessions (2026-07-28)</option>
</select></label>
<p><button type="button" id="list">List tools</button></p>
<label>Tool <input name="tool" list="tools" spellcheck="false"><datalist id="tools"></datalist></label>
<p id="about" class="soft"></p>
<label>Arguments, as JSON <textarea name="arguments" rows="5" spellcheck="false">{}</textarea></label>
<p><button type="submit">Call tool</button> ${decide}</p>`;
