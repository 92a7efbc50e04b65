import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gatewaySummary } from "../../4-emit/manifest/gateway-summary.ts";
import { type Html, html, trustedHtml } from "../../html/html.ts";
import { gatewayGraph } from "../../inspect/graph/gateway-graph.ts";
import { svgText } from "../../inspect/graph/svg.ts";
import { isLoopback } from "../../model/loopback.ts";
import { askAccess } from "../playground/ask-access.ts";
import { callRoute, type PlaygroundRequest } from "../playground/playground.ts";
import { readRequest } from "../playground/read-request.ts";
import { PLAYGROUND_SCRIPT, REFRESH_SCRIPT, STYLE } from "./assets.ts";
import { overview } from "./overview.ts";
import { playgroundPage } from "./playground-page.ts";
import { requestsPage } from "./requests-page.ts";
import type { LiveView } from "./view.ts";

/**
 * The admin page of `gwc run`, on a loopback address. It shows; nothing can be changed through it, and its playground sends
 * requests to the gateway's own ports alone.
 */
export class AdminServer {
  readonly #server: Server;
  readonly url: string;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** Listens on `host:port`. Rejects when it can't. */
  static open(address: string, view: LiveView): Promise<AdminServer> {
    const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
    if (!isLoopback(host)) return Promise.reject(new Error("it is no loopback address"));
    const key = randomBytes(32).toString("base64url");
    const server = createServer((request, response) => {
      serve(request, response, view, key).catch(() => response.destroy());
    });
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: host.replace(/^\[|\]$/g, ""), port: Number(port) }, () => {
        server.off("error", reject);
        // The page must not keep the process alive when the gateway has ended.
        server.unref();
        const { port: real } = server.address() as AddressInfo;
        resolve(new AdminServer(server, `http://${host}:${real}/ui/`));
      });
    });
  }

  /** Ends it, with its connections. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const POLICY = [
  "default-src 'none'",
  `style-src '${digest(STYLE)}'`,
  `script-src '${digest(REFRESH_SCRIPT)}' '${digest(PLAYGROUND_SCRIPT)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

interface Response {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  view: LiveView,
  key: string,
): Promise<void> {
  const { status, text, headers = {} } = await responseOf(request, view, key);
  const type = status === 200 ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  response.writeHead(status, { ...HEADERS, "content-type": type, ...headers });
  response.end(request.method === "HEAD" ? undefined : text);
}

async function responseOf(
  request: IncomingMessage,
  view: LiveView,
  key: string,
): Promise<Response> {
  const { method, url = "", headers } = request;
  // A page elsewhere that points its own name at this address (DNS rebinding) is not the reader's own.
  if (!isLoopback((headers.host ?? "").replace(/:[0-9]+$/, "")))
    return { status: 403, text: "only for this machine\n" };
  const [path = ""] = url.split("?");
  if (method === "POST" && path === TRY)
    return withRequest(request, key, (call) => {
      view.adminRequest(call);
      return callRoute(call, view.current.program, view.journal);
    });
  if (method === "POST" && path === CAN)
    return withRequest(request, key, (call) => askAccess(call, view.current));
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, text: "read only\n", headers: { allow: "GET, HEAD" } };
  if (path === "/" || path === "/ui")
    return { status: 302, text: "", headers: { location: "/ui/" } };
  return pageAt(path, view, key) ?? { status: 404, text: "not found\n" };
}

function pageAt(path: string, view: LiveView, key: string): Response | undefined {
  const shown = (current: PageName, content: Html | undefined): Response | undefined =>
    content && { status: 200, text: page(view, current, content, key) };
  if (path === "/ui/") return shown("overview", overview(view));
  if (path === "/ui/requests") return shown("requests", requestsPage(view));
  if (path === "/ui/picture") return shown("picture", picturePage(view));
  if (path === TRY) return shown("playground", playgroundPage(view, ""));
  if (path.startsWith(`${TRY}/`))
    return shown("playground", playgroundPage(view, path.slice(TRY.length + 1)));
  return path.startsWith(CODE) ? shown("code", codePage(view, path.slice(CODE.length))) : undefined;
}

/**
 * Handles an action of the page: an action that any client on this machine could take without it, or a question about
 * rules. `act` returns the result for a request of the page's own.
 */
async function withRequest(
  request: IncomingMessage,
  key: string,
  act: (call: PlaygroundRequest) => object | Promise<object>,
): Promise<Response> {
  if (!isOwnPage(request, key)) return { status: 403, text: "only for the page itself\n" };
  const text = await bodyOf(request);
  if (text === undefined) return { status: 413, text: "too much\n" };
  const call = readRequest(text);
  if (call === undefined) return { status: 400, text: "no request\n" };
  const headers = { "content-type": "application/json" };
  return { status: 200, text: JSON.stringify(await act(call)), headers };
}

/** The most bytes of a request that the page sends. */
const MAX_BODY = 1024 * 1024;

/** The body as text; undefined when it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const TRY = "/ui/try";
const CAN = "/ui/can";
const CODE = "/ui/code/";

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Renders one generated module with the list of all; `undefined` if no module has that path. */
function codePage(view: LiveView, path: string): Html | undefined {
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

const TOKEN =
  /(?<comment>\/\/.*)|(?<string>"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?<number>\b\d[\d_.]*\b)|(?<keyword>\b(?:async|await|const|else|export|false|from|function|if|import|meta|new|null|return|true|type|typeof|undefined|void)\b)|(?<type>\b[A-Z][A-Za-z]*\b)|(?<call>\b[a-z]\w*(?=\())/g;

/** Generated TypeScript, line by line, its words marked by kind. */
function highlight(text: string): readonly Html[] {
  return text.trimEnd().split("\n").map(line);
}

function line(text: string): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [word] = match;
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0];
    parts.push(html`${text.slice(end, match.index)}<span class="${kind ?? ""}">${word}</span>`);
    end = match.index + word.length;
  }
  return html`${parts}${text.slice(end)}`;
}

/**
 * Whether a request to act comes from a page of this process: another site's page can name neither its origin nor its
 * key, and must ask before it sends JSON; a script of another user of the machine has not read the key of this page.
 */
function isOwnPage({ headers }: IncomingMessage, key: string): boolean {
  const { host = "", origin } = headers;
  const site = headers["sec-fetch-site"];
  return (
    origin === `http://${host}` &&
    (site === undefined || site === "same-origin") &&
    headers["content-type"] === "application/json" &&
    isSame(String(headers["x-gwc-page"]), key)
  );
}

function isSame(given: string, key: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Renders the graph of the gateway: listeners, their routes with policies, and the servers of the routes. */
function picturePage({ current }: LiveView): Html {
  // Texts of the configuration are escaped where the picture is drawn.
  const picture = trustedHtml(svgText(gatewayGraph(gatewaySummary(current.program))));
  return html`<section class="card">${picture}</section>`;
}

/** The pages that have this frame. */
type PageName = "overview" | "requests" | "picture" | "playground" | "code";

/** The frame of every admin page: what is served, how it is, and the ways around. `key`: what the playground shows itself by. */
function page(view: LiveView, current: PageName, content: Html, key: string): string {
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
${serviceLink(program.process.addresses.stats, "/metrics", "Metrics")}
${serviceLink(program.process.addresses.readiness, "/healthz/ready", "Readiness")}
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

/** Returns a link to a page of a service address; nothing if it is off. */
function serviceLink(address: string, path: string, label: string): Html {
  if (address === "off") return html``;
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isEverywhere = ["", "0.0.0.0", "[::]"].includes(host);
  return link(`http://${isEverywhere ? "127.0.0.1" : host}:${port}${path}`, label, false);
}
