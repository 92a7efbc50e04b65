import { createHash } from "node:crypto";
import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type { UpstreamSettings } from "../http/upstream/upstream.ts";
import { Endpoints } from "./endpoints.ts";
import type { ServerChoice } from "./host.ts";
import type { HealthSettings } from "./server-health.ts";
import { keepChecked, WatchedUpstream, withoutEjected } from "./watched.ts";

/** A backend of a route whose name may stand for several servers, each of which clients can return to. */
export interface LastingBackend {
  /** Share of new clients, above zero. */
  readonly weight: number;
  readonly server: UpstreamSettings;
  readonly health: HealthSettings;
}

/** The backends of such a route, each with all servers of its name. */
export type LastingBackends = readonly OpenBackend[];

interface OpenBackend {
  readonly weight: number;
  readonly url: string;
  readonly endpoints: Endpoints<LastingUpstream>;
}

/** One server of one backend. */
export interface LastingServer {
  readonly upstream: LastingUpstream;
  readonly backend: OpenBackend;
  /** Share within its backend. */
  readonly weight: number;
}

/** A server that clients return to. */
class LastingUpstream extends WatchedUpstream {
  /** Identifies the server in every process: 16 characters that do not reveal its address. */
  readonly id: string;

  constructor(settings: UpstreamSettings, health: HealthSettings) {
    const server = openUpstream(settings);
    super(server, health);
    const place = `${settings.url} ${server.name}`;
    this.id = createHash("sha256").update(place).digest("base64url").slice(0, 16);
  }
}

/** Prepares the choice. Nothing is looked up or connected before the first request. Throws StartupError on a malformed URL. */
export function openLasting(backends: readonly LastingBackend[]): LastingBackends {
  return backends.map(({ weight, server, health }) => ({
    weight,
    url: server.url,
    endpoints: new Endpoints(server, (settings) => new LastingUpstream(settings, health)),
  }));
}

/**
 * Chooses servers at random, another one for each attempt. Returns `undefined` if the request was refused, or if its client has
 * disconnected.
 */
export async function chooseAny(
  exchange: Exchange,
  backends: LastingBackends,
): Promise<ServerChoice | undefined> {
  const servers = await lastingServers(exchange, backends);
  if (servers === undefined) return undefined;
  const tried = new Set<LastingServer>();
  return {
    next: () => {
      const server = anyServer(askable(servers, tried));
      tried.add(server);
      return server.upstream;
    },
    get hasUntried() {
      return tried.size < servers.length;
    },
  };
}

/**
 * Returns all current servers. A backend whose name has no address has none. Returns `undefined` if there is no server at all,
 * and the request was refused (503), or if its client has disconnected.
 */
export async function lastingServers(
  exchange: Exchange,
  backends: LastingBackends,
): Promise<readonly LastingServer[] | undefined> {
  const found = await Promise.all(backends.map((backend) => serversOf(backend)));
  if (exchange.isOver) return undefined;
  const servers = found.flatMap((each) => (each instanceof Error ? [] : each));
  if (servers.length > 0) {
    keepChecked(exchange, servers);
    return servers;
  }
  const error = found.find((each) => each instanceof Error);
  logFields(exchange.record).set("error", error?.message ?? "no server is ready");
  refuse(exchange, 503, "NoHealthyBackend", "no server for this request");
  return undefined;
}

async function serversOf(backend: OpenBackend): Promise<readonly LastingServer[] | Error> {
  const endpoints = await backend.endpoints.current().catch((error: Error) => error);
  if (endpoints instanceof Error) return endpoints;
  return Array.from(endpoints.values(), (upstream) => ({
    upstream,
    backend,
    weight: backend.weight / endpoints.size,
  }));
}

/** Returns the available servers, neither ejected nor `tried`; all of them if none is available. */
export function askable(
  servers: readonly LastingServer[],
  tried: ReadonlySet<LastingServer>,
): readonly LastingServer[] {
  const fresh = withoutEjected(servers).filter((each) => !tried.has(each));
  return fresh.length === 0 ? servers : fresh;
}

/** Chooses a server at random, in proportion to the shares of the backends. */
export function anyServer(servers: readonly LastingServer[]): LastingServer {
  let left = Math.random() * servers.reduce((sum, { weight }) => sum + weight, 0);
  const found = servers.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return found ?? lastOf(servers);
}

/**
 * Returns the server of a key, the same one as long as it exists (rendezvous hashing): if servers leave or join, only keys of
 * these servers move. It chooses a backend by its share, then one of its servers.
 */
export function serverOfKey(servers: readonly LastingServer[], key: string): LastingServer {
  const hash = textHash(key);
  const backends = [...new Set(servers.map(({ backend }) => backend))];
  const chosen = highest(backends, ({ url, weight }) => rank(mixedHash(hash, url), weight));
  const own = servers.filter(({ backend }) => backend === chosen);
  return highest(own, ({ upstream }) => rank(mixedHash(hash, upstream.id), 1)) ?? lastOf(servers);
}

/** Ranks a server: the highest rank is distributed in proportion to the weights. `hash`: 32 bits. */
function rank(hash: number, weight: number): number {
  return -weight / Math.log((hash + 0.5) / 2 ** 32);
}

function highest<Item>(items: readonly Item[], rankOf: (item: Item) => number): Item | undefined {
  let best: Item | undefined;
  let bestRank = -1;
  for (const item of items) {
    const own = rankOf(item);
    if (own <= bestRank) continue;
    [best, bestRank] = [item, own];
  }
  return best;
}

function lastOf(servers: readonly LastingServer[]): LastingServer {
  const last = servers.at(-1);
  if (last === undefined) throw new Error("a route without servers");
  return last;
}

/** Hashes a string to 32 bits: FNV-1a over its UTF-16 code units, then mixed. The same in every process. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return mixed(hash);
}

/** Hashes a hash and a string to 32 bits. */
export function mixedHash(hash: number, text: string): number {
  return mixed(hash ^ Math.imul(textHash(text), 0x9e3779b1));
}

/** Mixes a hash with the last step of MurmurHash3: each input bit changes half of the output bits. */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
