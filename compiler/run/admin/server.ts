import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isLoopback } from "../../model/loopback.ts";
import { askAccess } from "../playground/ask-access.ts";
import { callRoute, type PlaygroundRequest } from "../playground/playground.ts";
import { readRequest } from "../playground/read-request.ts";
import { streamRoute } from "../playground/stream-route.ts";
import { adminData } from "./api/admin-data.ts";
import { readKeyAction, sendKeyAction } from "./api/key-actions.ts";
import { DOCUMENT, PageAssets } from "./assets.ts";
import { isOwnPage, isOwnRead } from "./own-page.ts";
import type { LiveView } from "./view.ts";

/**
 * The admin page of `gwc run`, on a loopback address. It shows the gateway; its playground sends requests to the gateway's own
 * ports, and keys are changed through the API for keys with the operator's own credential.
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
    const page: Page = { view, key, assets: new PageAssets() };
    const server = createServer((request, response) => {
      serve(request, response, page).catch((error) => fail(response, error));
    });
    server.maxConnections = MAX_CONNECTIONS;
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

/** Maximum number of connections: browsers open at most six each. */
const MAX_CONNECTIONS = 128;

interface Page {
  readonly view: LiveView;
  /** The secret that requests of the page carry. */
  readonly key: string;
  readonly assets: PageAssets;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Images in results of tools.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
};

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  page: Page,
): Promise<void> {
  const { method, url = "", headers } = request;
  // A page elsewhere that points its own name at this address (DNS rebinding) is not the reader's own.
  if (!isLoopback((headers.host ?? "").replace(/:[0-9]+$/, "")))
    return send(response, 403, "only for this machine\n");
  const [path = "", query = ""] = url.split("?", 2);
  if (method === "POST" && path.startsWith(API)) return act(request, response, path, page);
  if (method !== "GET" && method !== "HEAD")
    return send(response, 405, "read only\n", { allow: "GET, HEAD" });
  if (path === "/" || path === "/ui") return send(response, 302, "", { location: "/ui/" });
  if (path.startsWith(ASSETS)) return sendAsset(request, response, path, page);
  if (path.startsWith(API)) {
    if (!isOwnRead(request)) return send(response, 403, "only for the page itself\n");
    const data = await adminData(page.view, path.slice(API.length), new URLSearchParams(query));
    return data === undefined ? send(response, 404, "not found\n") : sendJson(response, data);
  }
  if (!path.startsWith("/ui/")) return send(response, 404, "not found\n");
  send(response, 200, DOCUMENT.replace("PAGE_KEY", page.key), {
    "content-type": "text/html; charset=utf-8",
  });
}

const API = "/ui/api/";
const ASSETS = "/ui/assets/";

/** Maximum bytes of a request that the page sends. */
const MAX_BODY = 1024 * 1024;

/**
 * Handles an action of the page: an action that any client on this machine could take without it, or a question about
 * rules.
 */
async function act(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { view, key }: Page,
): Promise<void> {
  if (!isOwnPage(request, key)) return send(response, 403, "only for the page itself\n");
  const text = await bodyOf(request);
  if (text === undefined) return send(response, 413, "too much\n");
  const { program } = view.current;
  if (path === `${API}keys`) {
    const action = readKeyAction(text);
    if (action === undefined) return send(response, 400, "no action\n");
    return sendJson(response, await sendKeyAction(action, program));
  }
  const call = readRequest(text);
  if (call === undefined) return send(response, 400, "no request\n");
  if (path === `${API}can`) return sendJson(response, askAccess(call, view.current));
  const note = () => view.adminRequest(auditedRequest(call));
  if (path === `${API}try`) {
    note();
    return sendJson(response, await callRoute(call, program, view.journal));
  }
  if (path === `${API}stream`) {
    note();
    return streamRoute(call, program, response, HEADERS);
  }
  send(response, 404, "not found\n");
}

/** Returns what the audit log shows of a request. */
function auditedRequest({ method, target, route }: PlaygroundRequest): PlaygroundRequest {
  return { method, target, route, headers: [], body: "" };
}

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

async function sendAsset(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { assets }: Page,
): Promise<void> {
  const asset = await assets.named(path.slice(ASSETS.length));
  if (asset === undefined) return send(response, 404, "not found\n");
  const { type, body, tag } = asset;
  const headers = { "content-type": type, etag: tag, "cache-control": "no-cache" };
  if (request.headers["if-none-match"] === tag) return send(response, 304, "", headers);
  send(response, 200, body, headers);
}

function sendJson(response: ServerResponse, data: object): void {
  send(response, 200, JSON.stringify(data), { "content-type": "application/json" });
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = { "content-type": "text/plain; charset=utf-8" };
  response.writeHead(status, { ...HEADERS, ...type, ...headers });
  response.end(response.req.method === "HEAD" ? undefined : text);
}

/** Responds to a bug of the page. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const reason = error instanceof Error ? error.message.slice(0, 200) : "";
  send(response, 500, `the page failed: ${reason}\n`);
}
