/** Overview of a document, as the server returns it. */
export interface Overview {
  /** Name of the route at the cursor; `undefined` if the cursor is in none. */
  readonly route: string | undefined;
  /** Text about who may call its tools. */
  readonly access: string;
  /** Graph of the gateway; empty if the configuration has mistakes. */
  readonly graph: string;
}

/** Returns the page of the side panel. It has no scripts, and loads nothing. */
export function panelPage(overview: Overview | undefined): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  const body = overview === undefined ? "<p>Open a configuration of gwc.</p>" : bodyOf(overview);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>pre { white-space: pre-wrap; } .graph { overflow-x: auto; background: #fff; } img { height: auto; min-width: 620px; width: 100%; }</style>
</head><body>${body}</body></html>`;
}

function bodyOf({ route, access, graph }: Overview): string {
  const picture = `data:image/svg+xml;base64,${Buffer.from(graph).toString("base64")}`;
  if (graph === "") return "<p>Correct the mistakes of the configuration to see its access.</p>";
  return [
    `<div class="graph"><img alt="Graph of the gateway" src="${picture}"></div>`,
    route === undefined
      ? "<p>Move the cursor into a route to see who may use it.</p>"
      : `<h2>${escaped(route)}</h2><pre>${escaped(access)}</pre>`,
  ].join("\n");
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
