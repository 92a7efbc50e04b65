import type { ServerState } from "../../../runtime/process/server-states.ts";
import type { BackendLine } from "../../backends/backend.ts";
import { type Html, html } from "../../html/html.ts";
import { shownText } from "../../model/texts.ts";

/** A server of a backend: its address, or what it is, and how it does. */
export function backendLine({ label, address }: BackendLine, state?: ServerState): Html {
  const { isGood, text: words } = state ?? {};
  const pill =
    words === undefined
      ? html``
      : html` <span class="pill ${isGood === true ? "good" : "bad"}">${words}</span>`;
  if (address === undefined) return html`<div>${label ?? ""}${pill}</div>`;
  const text = shownText(address);
  return label === undefined
    ? html`<div><code>${text}</code>${pill}</div>`
    : html`<div>${label} <code class="soft">${text}</code>${pill}</div>`;
}
