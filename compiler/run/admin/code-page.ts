import { highlight } from "./highlight.ts";
import { type Html, html } from "./html.ts";
import type { LiveView } from "./view.ts";

/** Renders one generated module with the list of all; `undefined` if no module has that path. */
export function codePage(view: LiveView, path: string): Html | undefined {
  const { modules } = view.current;
  const module = modules.find((each) => each.path === path);
  if (module === undefined) return undefined;
  const links = modules.map(({ path: name }) => {
    const current = name === path ? html` aria-current="page"` : html``;
    return html`<li><a href="/ui/code/${name}"${current}>${name}</a></li>`;
  });
  const lines = highlight(module.text).map((line) => html`<span>${line}</span>`);
  return html`<div class="split">
<ul class="card">${links}</ul>
<div class="card"><pre class="code">${lines}</pre></div>
</div>`;
}
