import type { ServerChoice } from "../backends/host.ts";
import {
  anyServer,
  askable,
  type LastingBackends,
  type LastingServer,
  lastingServers,
} from "../backends/lasting-choice.ts";
import type { Exchange } from "../http/exchange.ts";
import { ForwardedResponse } from "../http/forwarded-response.ts";
import { cookieValue, withoutCookie } from "../http/headers/request-cookies.ts";
import type { OwnToken } from "../http/own-tokens.ts";
import type { ResponseSink } from "../http/response-sink.ts";
import { sealSession, unsealSession } from "../process/session-seal.ts";
import { SECOND } from "../process/units.ts";

/** How clients identify the server of their session (Gateway API SessionPersistence). Times are in milliseconds. */
export interface PersistenceSettings {
  /** Name of the cookie, or of the header in lower case. */
  readonly name: string;
  readonly kind: "cookie" | "header";
  /** The route; tokens of other routes are not accepted. */
  readonly route: string;
  /** Since the first request; absent if unlimited. */
  readonly absoluteTimeout?: number;
  /** Since the last request; absent if unlimited. */
  readonly idleTimeout?: number;
  /** Whether browsers store the cookie after they are closed, up to the absolute timeout. */
  readonly isPermanent: boolean;
}

/** The contents of a token. Times are in seconds since 1970. */
interface Session {
  /** The id of the server. */
  readonly id: string;
  readonly begun: number;
  readonly used: number;
}

/**
 * Chooses the server in the client's token, if it belongs to the route and is healthy; invalid tokens are ignored. A new
 * choice is sent to the client with the response. Returns `undefined` if the request was refused or its client
 * disconnected.
 */
export async function chooseInSession(
  exchange: Exchange,
  backends: LastingBackends,
  settings: PersistenceSettings,
): Promise<ServerChoice | undefined> {
  const token = stripToken(exchange, settings);
  const servers = await lastingServers(exchange, backends);
  if (servers === undefined) return undefined;
  return new SessionChoice(exchange, servers, settings, token);
}

/** Describes the tokens of one route, which no request may forward to a server, whichever route it takes. */
export function ownToken(settings: Pick<PersistenceSettings, "kind" | "name" | "route">): OwnToken {
  const { kind, name } = settings;
  if (kind === "header") return { header: name, binding: binding(settings) };
  // Servers do not use a name that the gateway has generated.
  const isMade = name.startsWith("gwc-session-");
  return isMade ? { cookies: name } : { cookie: name, binding: binding(settings) };
}

/** Removes and returns the token. Unknown tokens are removed as well: the name is reserved on this route. */
function stripToken(exchange: Exchange, { kind, name }: PersistenceSettings): string | undefined {
  const shown = exchange.shownTokens;
  if (kind === "header") {
    if (exchange.header(name) !== undefined) exchange.removeRequestHeader(name);
    return shown?.headers.get(name);
  }
  const cookies = exchange.header("cookie");
  if (cookieValue(cookies, name) !== undefined && cookies !== undefined) {
    const others = withoutCookie(cookies, name);
    if (others === "") exchange.removeRequestHeader("cookie");
    else exchange.setRequestHeader("cookie", others);
  }
  return cookieValue(shown?.cookies, name);
}

/** The servers of one request. */
class SessionChoice implements ServerChoice {
  readonly #exchange: Exchange;
  readonly #servers: readonly LastingServer[];
  readonly #settings: PersistenceSettings;
  readonly #session: Session | undefined;
  readonly #tried = new Set<LastingServer>();
  #server: LastingServer | undefined;

  constructor(
    exchange: Exchange,
    servers: readonly LastingServer[],
    settings: PersistenceSettings,
    token: string | undefined,
  ) {
    this.#exchange = exchange;
    this.#servers = servers;
    this.#settings = settings;
    this.#session = token === undefined ? undefined : this.#read(token);
  }

  get hasUntried(): boolean {
    return this.#tried.size < this.#servers.length;
  }

  next(): LastingServer["upstream"] {
    const asked = askable(this.#servers, this.#tried);
    const own = asked.find(({ upstream }) => upstream.id === this.#session?.id);
    const isFirst = this.#server === undefined;
    this.#server = own ?? anyServer(asked);
    this.#tried.add(this.#server);
    if (isFirst) this.#announce();
    return this.#server.upstream;
  }

  /** Adds the server to the response: that of the last attempt, except for an upgrade, which has only one. */
  #announce(): void {
    const exchange = this.#exchange;
    if (exchange.upgrade === undefined) {
      exchange.interceptResponse((next) => new TokenSink(next, () => this.#notice()));
      return;
    }
    const notice = this.#notice();
    if (notice !== undefined) exchange.addResponseHeader(...notice);
  }

  /** Returns the session of a token; `undefined` if it belongs to another route or has expired. */
  #read(token: string): Session | undefined {
    const { gateway } = this.#exchange;
    const state = unsealSession(gateway.sessionKeys, binding(this.#settings), token);
    const [id, begun, used] = state?.split(" ") ?? [];
    if (id === undefined) return undefined;
    const session = { id, begun: Number(begun), used: Number(used) };
    const { absoluteTimeout = Number.POSITIVE_INFINITY, idleTimeout = Number.POSITIVE_INFINITY } =
      this.#settings;
    const isOver =
      (seconds() - session.begun) * SECOND >= absoluteTimeout ||
      (seconds() - session.used) * SECOND >= idleTimeout;
    return isOver ? undefined : session;
  }

  /** Returns the header for the client; `undefined` if its token stays valid. */
  #notice(): readonly [name: string, value: string] | undefined {
    const server = this.#server;
    const { kind, name, idleTimeout, absoluteTimeout, isPermanent } = this.#settings;
    if (server === undefined) return undefined;
    const isSame = server.upstream.id === this.#session?.id;
    if (isSame && idleTimeout === undefined) return undefined;
    const now = seconds();
    const begun = isSame ? (this.#session?.begun ?? now) : now;
    const { gateway, scheme, record } = this.#exchange;
    // The gateway itself responds, so no server has received the request.
    if (record.reason !== undefined) return undefined;
    const state = `${server.upstream.id} ${begun} ${now}`;
    const token = sealSession(gateway.sessionKeys, binding(this.#settings), state);
    if (kind === "header") return [name, token];
    const secure = scheme === "https" ? "; Secure" : "";
    const left = begun - now + Math.ceil((absoluteTimeout ?? 0) / SECOND);
    const lifetime = isPermanent ? `; Max-Age=${left}` : "";
    return ["set-cookie", `${name}=${token}; Path=/${lifetime}; HttpOnly${secure}; SameSite=Lax`];
  }
}

function binding({ route, name }: Pick<PersistenceSettings, "route" | "name">): string {
  return `session ${route} ${name}`;
}

function seconds(): number {
  return Math.floor(Date.now() / SECOND);
}

/** Adds the token to the head of the response. */
class TokenSink extends ForwardedResponse {
  readonly #notice: () => readonly [name: string, value: string] | undefined;

  constructor(
    next: ResponseSink,
    noticeOf: () => readonly [name: string, value: string] | undefined,
  ) {
    super(next);
    this.#notice = noticeOf;
  }

  override respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    super.respond(status, this.#with(headers), body);
  }

  override writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    super.writeHead(status, this.#with(headers), length);
  }

  #with(headers: readonly string[]): readonly string[] {
    const notice = this.#notice();
    return notice === undefined ? headers : [...headers, ...notice];
  }
}
