import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isLoopback } from "../../model/loopback.ts";
import { askAccess } from "../playground/ask-access.ts";
import { callRoute, type PlaygroundRequest } from "../playground/playground.ts";
import { readRequest } from "../playground/read-request.ts";
import { codePage } from "./code-page.ts";
import type { Html } from "./html.ts";
import { overview } from "./overview.ts";
import { type PageName, page } from "./page.ts";
import { isOwnPage } from "./page-guard.ts";
import { picturePage } from "./picture-page.ts";
import { playgroundPage } from "./playground-page.ts";
import { PLAYGROUND_SCRIPT } from "./playground-script.ts";
import { requestsPage } from "./requests-page.ts";
import { SCRIPT, STYLE } from "./style.ts";
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
  `script-src '${digest(SCRIPT)}' '${digest(PLAYGROUND_SCRIPT)}'`,
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
