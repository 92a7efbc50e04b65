import { isIP } from "node:net";
import type { Connect, Lookup } from "../../../net/connector.ts";
import { endpointName } from "../../../net/service-endpoints.ts";
import { startupError } from "../../../process/startup-error.ts";
import { UnusableFile } from "../../../process/unusable-file.ts";
import { HeaderNames, withoutLines } from "../../headers/header-lines.ts";
import { replaceHeader } from "../../headers/header-list.ts";
import { fieldLines } from "../../http1/fields.ts";
import { type CountedPool, type RequestCounts, requestCounts } from "../counted-request.ts";
import type { Credential } from "../credential-file.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { type Connectors, connectorsTo } from "./connectors.ts";
import { readServerUrl, type ServerUrl } from "./server-url.ts";
import { sendUpgrade } from "./upgrade-request.ts";

/** A configured server, over any version of HTTP. */
export abstract class ServerUpstream implements Upstream {
  readonly name: string;
  readonly origin: string;
  readonly authority: string;
  readonly keepsHost: boolean;
  readonly path: string;
  readonly basePath: string;
  abstract readonly takesTrailers: boolean;
  protected readonly url: URL;
  protected readonly connectors: Connectors;
  protected readonly requestTimeout: number | undefined;
  /** Key of upstreams that may share connections; `undefined` if this one cannot share. */
  protected readonly connectionKey: string | undefined;
  readonly #authorization: string | Credential | undefined;
  #upgradeConnect: Connect | undefined;
  readonly #countedAs: string;
  #counts: RequestCounts | undefined;
  #forgetPool: (() => void) | undefined;

  /** Throws StartupError on a malformed URL. */
  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    const server = parse(settings.url);
    const { url, name } = server;
    this.url = url;
    this.requestTimeout = settings.requestTimeout;
    this.#authorization = settings.authorization;
    this.name = settings.endpoint === undefined ? name : endpointName(settings.endpoint);
    this.#countedAs = settings.countedAs ?? name;
    this.origin = url.origin;
    this.authority = url.host;
    const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0;
    this.keepsHost = settings.keepsHost ?? (isAddress || server.socketPath !== undefined);
    this.path = `${url.pathname}${url.search}`;
    this.basePath = url.pathname.replace(/\/$/, "");
    this.connectors = connectorsTo(server, settings, lookup);
    this.connectionKey = lookup === undefined ? keyOf(server, settings) : undefined;
  }

  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    // Behind a configured server, a tunnel would lead wherever that server lets it.
    if (call.method === "CONNECT") return refusedTunnel(handler);
    const problem = this.#setCredential(call.headers);
    if (problem !== undefined) return failedCall(problem, handler);
    return this.sendRequest(call, handler);
  }

  upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    const { requestTimeout } = this;
    const problem = this.#setCredential(call.headers);
    if (problem !== undefined) return failedCall(problem, handler);
    this.#upgradeConnect ??= this.connectors.http1();
    return sendUpgrade(call, protocol, handler, {
      connect: this.#upgradeConnect,
      requestTimeout,
      counts: this.countsOf(undefined),
    });
  }

  close(): void {
    if (this.closePool()) this.#forgetPool?.();
  }

  /**
   * Adds the credential to formatted fields. Returns `undefined` if that is not possible, or a failure if there is no
   * credential.
   */
  protected withCredential(lines: string): string | UpstreamFailure | undefined {
    const value = authorizationNow(this.#authorization);
    if (value === undefined) return lines;
    if (value instanceof UnusableFile) return noCredential(value);
    const added = fieldLines(["authorization", value]);
    return added === undefined ? undefined : withoutLines(lines, authorization) + added;
  }

  /** Sends a complete request. */
  protected abstract sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest;
  /** Closes the connections once their last requests have ended, unless others use them. Returns whether no one else does. */
  protected abstract closePool(): boolean;

  /** Returns the counters of requests, which exist from the first request on, and registers the pool's waiting requests. */
  protected countsOf(pool: CountedPool | undefined): RequestCounts | undefined {
    this.#counts ??= requestCounts(this.#countedAs);
    if (pool !== undefined) this.#forgetPool ??= this.#counts?.pool(pool);
    return this.#counts;
  }

  /** Sets the credential. Returns a failure if it is missing. */
  #setCredential(headers: string[]): UpstreamFailure | undefined {
    const value = authorizationNow(this.#authorization);
    if (value instanceof UnusableFile) return noCredential(value);
    if (value !== undefined) replaceHeader(headers, "authorization", value);
    return undefined;
  }
}

/** Identifies the settings of connections, as opposed to those of requests. */
function keyOf(
  { url, socketPath, name }: ServerUrl,
  { endpoint, connectTimeout, keepAlive, tunnel, tls, countedAs = name }: UpstreamSettings,
): string {
  const target = [url.origin, socketPath, endpoint];
  return JSON.stringify([...target, connectTimeout, keepAlive, tunnel, tls, countedAs]);
}

/** Reports to a handler that a tunnel is refused. */
export function refusedTunnel(handler: UpstreamHandler): UpstreamRequest {
  return failedCall(
    { kind: "connect", isForbidden: true, detail: "a tunnel through a server that is not a proxy" },
    handler,
  );
}

/** Returns a call that fails before anything is sent; the handler is notified in the next turn of the event loop. */
export function failedCall(failure: UpstreamFailure, handler: UpstreamHandler): UpstreamRequest {
  const timer = setImmediate(() => handler.onError(failure));
  return { abort: () => clearImmediate(timer), resume: () => {} };
}

function noCredential({ message }: UnusableFile): UpstreamFailure {
  return { kind: "connect", detail: message };
}

function authorizationNow(
  value: string | Credential | undefined,
): string | UnusableFile | undefined {
  if (typeof value !== "function") return value;
  try {
    return value();
  } catch (error) {
    if (error instanceof UnusableFile) return error;
    throw error;
  }
}

/** Replaces the client's credential, which the server must not see. */
const authorization = new HeaderNames(["authorization"]);

function parse(text: string): ServerUrl {
  const server = readServerUrl(text);
  if (server !== undefined) return server;
  throw startupError(`"${text.replace(/\/\/[^/]*@/, "//")}" is not the URL of an HTTP server`);
}

/** Connections that close once they are unused. */
interface ClosablePool {
  close(): void;
}

/** Pools of a process for one version of HTTP. Upstreams with the same settings share connections. */
export class SharedPools<Pool extends ClosablePool> {
  readonly #pools = new Map<string, { readonly pool: Pool; users: number }>();

  /** Returns the pool of a key and opens it at the first use. Each user gives it back once. */
  use(key: string, open: () => Pool): Pool {
    let shared = this.#pools.get(key);
    if (shared === undefined) {
      shared = { pool: open(), users: 0 };
      this.#pools.set(key, shared);
    }
    shared.users += 1;
    return shared.pool;
  }

  /** Gives a pool back; the last user closes it. Returns whether this was the last one. */
  giveBack(key: string): boolean {
    const shared = this.#pools.get(key);
    if (shared === undefined) return true;
    shared.users -= 1;
    if (shared.users > 0) return false;
    this.#pools.delete(key);
    shared.pool.close();
    return true;
  }
}

/** The share of one upstream in the pools of its process. */
export class PoolShare<Pool extends ClosablePool> {
  readonly #key: string | undefined;
  readonly #open: () => Pool;
  readonly #ofProcess: () => SharedPools<Pool> | undefined;
  #pools: SharedPools<Pool> | undefined;
  #pool: Pool | undefined;
  #isClosed = false;

  /**
   * `key`: identifies the settings; `undefined` if the pool is not shared. `ofProcess`: returns `undefined` if no gateway runs
   * yet.
   */
  constructor(
    key: string | undefined,
    open: () => Pool,
    ofProcess: () => SharedPools<Pool> | undefined,
  ) {
    this.#key = key;
    this.#open = open;
    this.#ofProcess = ofProcess;
  }

  /** The pool, looked up at the first use. */
  get pool(): Pool {
    this.#pool ??= this.#find();
    return this.#pool;
  }

  /** Gives the pool back. Returns whether it was closed. */
  close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    if (this.#key !== undefined && this.#pools !== undefined)
      return this.#pools.giveBack(this.#key);
    this.#pool?.close();
    return true;
  }

  #find(): Pool {
    if (this.#isClosed) {
      // Requests after the close end with their connection.
      const pool = this.#open();
      pool.close();
      return pool;
    }
    if (this.#key === undefined) return this.#open();
    this.#pools = this.#ofProcess();
    return this.#pools?.use(this.#key, this.#open) ?? this.#open();
  }
}
