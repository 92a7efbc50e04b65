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

/** A server of the configuration, whatever version of HTTP it is asked in. */
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
  /** The same for all who reach a server in the same way; undefined: nobody else does. */
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
    // Behind a server of the configuration a tunnel would lead wherever that server lets it.
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

  /** The same of fields as lines; `undefined` if they can't be sent with it, a failure if there is no credential. */
  protected withCredential(lines: string): string | UpstreamFailure | undefined {
    const value = authorizationNow(this.#authorization);
    if (value === undefined) return lines;
    if (value instanceof UnusableFile) return noCredential(value);
    const added = fieldLines(["authorization", value]);
    return added === undefined ? undefined : withoutLines(lines, authorization) + added;
  }

  /** Sends a request that is complete. */
  protected abstract sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest;
  /** Ends the connections when their last requests have ended, unless others need them. Whether nobody does. */
  protected abstract closePool(): boolean;

  /** Who counts the requests, from the first one on that a gateway makes, and those that wait in a pool. */
  protected countsOf(pool: CountedPool | undefined): RequestCounts | undefined {
    this.#counts ??= requestCounts(this.#countedAs);
    if (pool !== undefined) this.#forgetPool ??= this.#counts?.pool(pool);
    return this.#counts;
  }

  /** What keeps the request from being sent; `undefined` if it has its credential. */
  #setCredential(headers: string[]): UpstreamFailure | undefined {
    const value = authorizationNow(this.#authorization);
    if (value instanceof UnusableFile) return noCredential(value);
    if (value !== undefined) replaceHeader(headers, "authorization", value);
    return undefined;
  }
}

/** What connections are made of; what only requests are made of is not in it. */
function keyOf(
  { url, socketPath, name }: ServerUrl,
  { endpoint, connectTimeout, keepAlive, tunnel, tls, countedAs = name }: UpstreamSettings,
): string {
  const target = [url.origin, socketPath, endpoint];
  return JSON.stringify([...target, connectTimeout, keepAlive, tunnel, tls, countedAs]);
}

/** Tells a handler that a tunnel leads nowhere. */
export function refusedTunnel(handler: UpstreamHandler): UpstreamRequest {
  return failedCall(
    { kind: "connect", isForbidden: true, detail: "a tunnel to no proxy" },
    handler,
  );
}

/** A call that fails before anything is sent: the handler hears of it in the next turn of the event loop. */
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

/** The client's is none of the server's business that is shown another one. */
const authorization = new HeaderNames(["authorization"]);

function parse(text: string): ServerUrl {
  const server = readServerUrl(text);
  if (server !== undefined) return server;
  throw startupError(`"${text.replace(/\/\/[^/]*@/, "//")}" is not the URL of an HTTP server`);
}

/** Connections that end when nobody uses them any more. */
interface ClosablePool {
  close(): void;
}

/**
 * The pools of a process to its servers, of one version of HTTP: whoever reaches a server in the same way shares its
 * connections.
 */
export class SharedPools<Pool extends ClosablePool> {
  readonly #pools = new Map<string, { readonly pool: Pool; users: number }>();

  /** The pool of all who ask for this key; `open` makes it for the first one. Each of them gives it back once. */
  use(key: string, open: () => Pool): Pool {
    let shared = this.#pools.get(key);
    if (shared === undefined) {
      shared = { pool: open(), users: 0 };
      this.#pools.set(key, shared);
    }
    shared.users += 1;
    return shared.pool;
  }

  /** Somebody needs the pool no more; the last one closes it. Whether that was the last. */
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

/** What one upstream has of the pools of its process. */
export class PoolShare<Pool extends ClosablePool> {
  readonly #key: string | undefined;
  readonly #open: () => Pool;
  readonly #ofProcess: () => SharedPools<Pool> | undefined;
  #pools: SharedPools<Pool> | undefined;
  #pool: Pool | undefined;
  #isClosed = false;

  /** `key`: how the server is reached; undefined: nobody else does so. `ofProcess`: undefined while no gateway runs. */
  constructor(
    key: string | undefined,
    open: () => Pool,
    ofProcess: () => SharedPools<Pool> | undefined,
  ) {
    this.#key = key;
    this.#open = open;
    this.#ofProcess = ofProcess;
  }

  /** The pool; it is looked for when it is asked for first. */
  get pool(): Pool {
    this.#pool ??= this.#find();
    return this.#pool;
  }

  /** Whether nobody uses the pool any more: it is closed. */
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
      // What is sent all the same ends with its connection.
      const pool = this.#open();
      pool.close();
      return pool;
    }
    if (this.#key === undefined) return this.#open();
    this.#pools = this.#ofProcess();
    return this.#pools?.use(this.#key, this.#open) ?? this.#open();
  }
}
