import { PLAYGROUND_SCRIPT, REFRESH_SCRIPT, STYLE } from "./assets.ts";
import { type Html, html, trustedHtml } from "./html.ts";
import type { LiveView } from "./view.ts";

/** The pages that have this frame. */
export type PageName = "overview" | "requests" | "picture" | "playground" | "code";

/** The frame of every admin page: what is served, how it is, and the ways around. `key`: what the playground shows itself by. */
export function page(view: LiveView, current: PageName, content: Html, key: string): string {
  const isForm = current === "playground";
  const { program } = view.current;
  const isServed = view.lastChange.problem === undefined;
  const pill = isServed
    ? html`<span class="pill good">serving</span>`
    : html`<span class="pill bad">last edit not served</span>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${program.name} - gwc</title>
${isForm ? html`` : html`<noscript><meta http-equiv="refresh" content="5"></noscript>`}
<style>${trustedHtml(STYLE)}</style>
</head>
<body data-key="${isForm ? key : ""}">
<header><div class="bar">
<strong>${program.name} <span>${view.file}</span></strong>
${pill}
<nav>
${link("/ui/", "Overview", current === "overview")}
${link("/ui/requests", "Requests", current === "requests")}
${link("/ui/picture", "Picture", current === "picture")}
${link("/ui/try", "Playground", isForm)}
${link("/ui/code/main.ts", "Generated code", current === "code")}
${link(serviceUrl(program.process.addresses.stats, "/metrics"), "Metrics", false)}
${link(serviceUrl(program.process.addresses.readiness, "/healthz/ready"), "Readiness", false)}
</nav>
</div></header>
<main>
${content}
</main>
<script>${trustedHtml(isForm ? PLAYGROUND_SCRIPT : REFRESH_SCRIPT)}</script>
</body>
</html>
`.text;
}

function link(href: string, text: string, isCurrent: boolean): Html {
  return isCurrent
    ? html`<a href="${href}" aria-current="page">${text}</a>`
    : html`<a href="${href}">${text}</a>`;
}

/** Returns the URL of a service address for a reader on this machine. */
function serviceUrl(address: string, path: string): string {
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isEverywhere = ["", "0.0.0.0", "[::]"].includes(host);
  return `http://${isEverywhere ? "127.0.0.1" : host}:${port}${path}`;
}
