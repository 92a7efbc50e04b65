import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { askAccess } from "../playground/ask-access.ts";
import { AskingCalls } from "../playground/asking-calls.ts";
import { callRoute, type PlaygroundRequest } from "../playground/playground.ts";
import { readRequest } from "../playground/read-request.ts";
import { streamRoute } from "../playground/stream-route.ts";
import { adminData } from "./api/admin-data.ts";
import { readKeyAction, sendKeyAction } from "./api/key-actions.ts";
import { DOCUMENT, LOGIN_DOCUMENT, PageAssets } from "./assets.ts";
import { AdminLogins } from "./login/admin-logins.ts";
import { PageAccess } from "./login/page-access.ts";
import type { LiveView } from "./view.ts";

/**
 * The admin page of `gwc run`, on a loopback address, or behind a login. It shows the gateway; its playground sends requests to
 * the gateway's own ports, and keys are changed through the API for keys with the operator's own credential.
 */
export class AdminServer {
  readonly #server: Server;
  readonly url: string;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** Listens on `host:port`. Rejects if that is impossible, or if everybody could read the page there. */
  static async open(address: string, view: LiveView): Promise<AdminServer> {
    const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
    const key = randomBytes(32).toString("base64url");
    const access = new PageAccess(
      host,
      await AdminLogins.load(),
      () => view.current.program.process.admin,
    );
    const pending = new AskingCalls();
    const page: Page = { view, key, access, assets: new PageAssets(), pending };
    const server = createServer((request, response) => {
      serve(request, response, page).catch((error) => fail(response, error));
    });
    server.maxConnections = MAX_CONNECTIONS;
    server.on("close", () => pending.close());
    return new Promise((resolve, reject) => {
      access.check();
      server.once("error", reject);
      server.listen({ host: host.replace(/^\[|\]$/g, ""), port: Number(port) }, () => {
        server.off("error", reject);
        // The page must not keep the process alive when the gateway has ended.
        server.unref();
        const { port: real } = server.address() as AddressInfo;
        access.port = real;
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
  readonly access: PageAccess;
  readonly assets: PageAssets;
  readonly pending: AskingCalls;
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
  const { access } = page;
  if (!access.isOwnHost(headers.host)) return send(response, 403, UNKNOWN_HOST);
  const [path = "", query = ""] = url.split("?", 2);
  if (method === "POST" && path === LOGIN) return logIn(request, response, page);
  const isAsset = path.startsWith(ASSETS);
  const admission = isAsset ? undefined : access.admit(request, path.startsWith(API));
  if (admission?.kind === "refused") return send(response, 503, `${admission.why}\n`);
  if (admission?.kind === "login")
    return path.startsWith(API)
      ? send(response, 401, "log in first\n", CHALLENGE)
      : sendLogin(response, 401);
  if (method === "POST" && path.startsWith(API)) return act(request, response, path, page);
  if (method !== "GET" && method !== "HEAD")
    return send(response, 405, "read only\n", { allow: "GET, HEAD" });
  if (path === "/" || path === "/ui") return send(response, 302, "", { location: "/ui/" });
  if (isAsset) return sendAsset(request, response, path, page);
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
const LOGIN = "/ui/login";
const CHALLENGE = { "www-authenticate": 'Bearer realm="admin page"' };
const UNKNOWN_HOST = "unknown host: use a loopback address, or name it in config.admin.hostnames\n";
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
  { view, key, access, pending }: Page,
): Promise<void> {
  if (!isOwnPage(request, key, access)) return send(response, 403, "only for the page itself\n");
  const text = await bodyOf(request);
  if (text === undefined) return send(response, 413, "too much\n");
  const { program } = view.current;
  if (path === `${API}logout`) {
    access.logout(request);
    response.setHeader("set-cookie", access.cookie(request));
    return sendJson(response, {});
  }
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
    return sendJson(response, await callRoute(call, program, view.journal, pending));
  }
  if (path === `${API}stream`) {
    note();
    return streamRoute(call, program, response, HEADERS);
  }
  send(response, 404, "not found\n");
}

/** Maximum bytes of the form of the login. */
const MAX_LOGIN = 8192;

/** Logs in with the key of the form. */
async function logIn(
  request: IncomingMessage,
  response: ServerResponse,
  { view, access }: Page,
): Promise<void> {
  if (!access.isOwnOrigin(request) || !isOwnRead(request))
    return send(response, 403, "only for the page itself\n");
  if (!access.hasLogin) return send(response, 404, "not found\n");
  const body = await bodyOf(request, MAX_LOGIN);
  if (body === undefined) return send(response, 413, "too much\n");
  const form = new URLSearchParams(body);
  const result = access.login(request, form.get("key")?.trim() ?? "");
  if (result.kind === "wait") {
    const headers = { "retry-after": String(result.seconds) };
    return sendLogin(
      response,
      429,
      `Too many wrong keys: try again in ${result.seconds} s.`,
      headers,
    );
  }
  view.adminLogin(result.kind === "ok", request.socket.remoteAddress ?? "");
  if (result.kind === "wrong") return sendLogin(response, 401, "The key is wrong.");
  const cookie = access.cookie(request, result.secret);
  send(response, 303, "", { location: "/ui/", "set-cookie": cookie });
}

function sendLogin(
  response: ServerResponse,
  status: number,
  problem?: string,
  headers: Readonly<Record<string, string>> = CHALLENGE,
): void {
  const shown = problem === undefined ? "" : `<p class="problem" role="alert">${problem}</p>`;
  send(response, status, LOGIN_DOCUMENT.replace("<!--PROBLEM-->", shown), {
    ...headers,
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY.replace("form-action 'none'", "form-action 'self'"),
    // Without a referrer, browsers send the form with the origin "null".
    "referrer-policy": "same-origin",
  });
}

/** Returns what the audit log shows of a request. */
function auditedRequest({ method, target, route }: PlaygroundRequest): PlaygroundRequest {
  return { method, target, route, headers: [], body: "" };
}

/** The body as text; undefined when it is too long. */
async function bodyOf(
  request: IncomingMessage,
  longest: number = MAX_BODY,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > longest) return undefined;
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

/**
 * Whether a request to act comes from a page of this process: another site's page can name neither its origin nor its
 * key, and must ask before it sends JSON; a script of another user of the machine has not read the key of this page.
 */
function isOwnPage(request: IncomingMessage, key: string, access: PageAccess): boolean {
  const { headers } = request;
  return (
    access.isOwnOrigin(request) &&
    isOwnRead(request) &&
    headers["content-type"] === "application/json" &&
    isSame(String(headers["x-gwc-page"]), key)
  );
}

/**
 * Whether a request to read comes from no other site. Another site cannot read the response, but some questions take
 * seconds to decide.
 */
function isOwnRead({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

function isSame(given: string, key: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}
