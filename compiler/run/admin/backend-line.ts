import type { BackendLine } from "../../backends/backend.ts";
import { type Html, html } from "./html.ts";
import { envTemplateText } from "./places.ts";

/** A server of a backend: its address, or what it is. */
export function backendLine({ label, address }: BackendLine): Html {
  if (address === undefined) return html`<div>${label ?? ""}</div>`;
  const text = envTemplateText(address);
  return label === undefined
    ? html`<div><code>${text}</code></div>`
    : html`<div>${label} <code class="soft">${text}</code></div>`;
}
