import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { codePage } from "./code-page.ts";
import { overview } from "./overview.ts";
import { page } from "./page.ts";
import { SCRIPT, STYLE } from "./style.ts";
import type { LiveView } from "./view.ts";

/** The admin page of `gwc run`, on a loopback address. It only shows; nothing can be changed through it. */
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
    const server = createServer((request, response) => serve(request, response, view));
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
  `script-src '${digest(SCRIPT)}'`,
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

function serve(request: IncomingMessage, response: ServerResponse, view: LiveView): void {
  const { status, text, headers = {} } = responseOf(request, view);
  const type = status === 200 ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  response.writeHead(status, { ...HEADERS, "content-type": type, ...headers });
  response.end(request.method === "HEAD" ? undefined : text);
}

function responseOf({ method, url = "", headers }: IncomingMessage, view: LiveView): Response {
  // A page elsewhere that points its own name at this address (DNS rebinding) is not the reader's own.
  if (!isLoopback((headers.host ?? "").replace(/:[0-9]+$/, "")))
    return { status: 403, text: "only for this machine\n" };
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, text: "read only\n", headers: { allow: "GET, HEAD" } };
  const [path = ""] = url.split("?");
  if (path === "/" || path === "/ui")
    return { status: 302, text: "", headers: { location: "/ui/" } };
  if (path === "/ui/") return { status: 200, text: page(view, "overview", overview(view)) };
  const code = path.startsWith(CODE) ? codePage(view, path.slice(CODE.length)) : undefined;
  return code === undefined
    ? { status: 404, text: "not found\n" }
    : { status: 200, text: page(view, "code", code) };
}

const CODE = "/ui/code/";

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/i.test(host);
}

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
