import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type SecureContext } from "node:tls";
import type { Histogram, Sample } from "../metrics/family.ts";
import { type Metrics, UpstreamCounts } from "../metrics/metrics.ts";
import {
  upstreamConnectDuration,
  upstreamConnections,
  upstreamConnectionsActive,
} from "../metrics/table/upstreams.ts";
import { processMetrics } from "../process/offered-values.ts";
import { SECOND } from "../process/units.ts";
import { UnusableFile } from "../process/unusable-file.ts";
import type { KeepAliveSettings } from "./connection-settings.ts";
import { joinedMesh } from "./joined-mesh.ts";
import {
  connectedTo,
  endpointName,
  meshAccountOf,
  type PodAddress,
  podOf,
  podsOf,
} from "./service-endpoints.ts";
import { ignoreError } from "./socket-reads.ts";

/** Counts the connections to all upstreams. */
class ConnectMetrics extends UpstreamCounts<ConnectCounts> {
  constructor(metrics: Metrics) {
    super((upstream) => new ConnectCounts(metrics, upstream));
    const active = this.reader((counts) => counts.active);
    metrics.read(upstreamConnectionsActive, active);
  }
}

/** Counts the connections to one upstream. */
export class ConnectCounts {
  /** Those that are open. */
  active = 0;
  readonly #ok: Sample;
  readonly #failed: Sample;
  readonly #duration: Histogram;

  constructor(metrics: Metrics, upstream: string) {
    this.#ok = metrics.counter(upstreamConnections, upstream, "ok");
    this.#failed = metrics.counter(upstreamConnections, upstream, "failed");
    this.#duration = metrics.histogram(upstreamConnectDuration, upstream);
  }

  /** It took so many milliseconds until the connection was there. */
  opened(duration: number): void {
    this.active += 1;
    this.#ok.value += 1;
    this.#duration.add(duration / SECOND);
  }

  failed(): void {
    this.#failed.value += 1;
  }

  /** One that was open is no more. Bound: connections have it as their listener. */
  readonly closed = (): void => {
    this.active -= 1;
  };
}

/** The counts of the connections to an upstream, which outlive a reload; undefined: no gateway runs yet. */
export function connectCounts(upstream: string): ConnectCounts | undefined {
  return processMetrics()?.part(ConnectMetrics).to(upstream);
}

/** TLS to one destination; an `UpstreamTls` is one. */
export interface DestinationTls {
  /** Options for a connection to `host`. Throws UnusableFile if a mounted file cannot be used. */
  optionsFor(host: string): ConnectionOptions;
}

/** Where connections lead and what they are made with. */
export interface ConnectorSettings {
  /** A name, or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** A Unix socket of the machine, in the place of host and port. */
  readonly socketPath?: string;
  /** Of all servers that the name stands for this one; absent: any. */
  readonly endpoint?: PodAddress;
  /** Absent: plain TCP. */
  readonly tls?: DestinationTls;
  /** What is spoken, for ALPN. */
  readonly alpn: readonly string[];
  /** True: the end of what the server sends leaves the other direction open. */
  readonly allowHalfOpen?: boolean;
  /** Milliseconds until the connection, with its handshake, is there. */
  readonly timeout: number;
  readonly keepAlive: KeepAliveSettings;
  /** What metrics call it; absent: its host and port. */
  readonly countedAs?: string;
  /** Another way from a name to addresses. */
  readonly lookup?: Lookup;
  /** A way through a proxy; absent: it is connected to directly. */
  readonly tunnel?: OpenTunnel;
}

/** Linux's own, but for the first probe: a peer that is gone is noticed before a proxy on the way forgets. */
export const systemKeepAlive: KeepAliveSettings = { time: 60_000, interval: 75_000, retries: 9 };

/** A connection to a server, as far as who passes its bytes on has to know it. A socket is one. */
export interface ServerConnection {
  on(event: "data", listener: (bytes: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "drain" | "end" | "close", listener: () => void): unknown;
  /** False: wait for `drain`. */
  write(bytes: Uint8Array): boolean;
  pause(): unknown;
  resume(): unknown;
  /** Nothing more is sent. */
  end(): unknown;
  destroy(): unknown;
}

/** Opens one connection: `done` is called once. */
export type Connect = (done: (error: Error | null, socket: Socket | null) => void) => void;

/** Opens the way to `host:port` through a proxy: `done` is called once. */
export type OpenTunnel = (
  authority: string,
  done: (error: Error | null, socket: Socket | null) => void,
) => void;

/** Makes the function that opens connections to one destination. */
export function connector(settings: ConnectorSettings): Connect {
  // A TLS session is worth a round trip to the next connection, as long as the certificates are the same.
  let session: Buffer | undefined;
  let sessionContext: SecureContext | undefined;
  /**
   * `tunnel`: what is connected to the destination already; undefined: nothing is. `tried`: pods that could not be reached;
   * `begun`: when the first of them was tried. Nothing was sent by then, so another pod gets the request.
   */
  const open = (
    done: Parameters<Connect>[0],
    tunnel: Socket | undefined,
    tried: readonly PodAddress[] = [],
    begun = performance.now(),
  ) => {
    const { tls } = settings;
    const timeout = settings.timeout - (performance.now() - begun);
    const counts = connectCounts(settings.countedAs ?? `${settings.host}:${settings.port}`);
    const pod = podFor(settings, tunnel !== undefined, tried);
    const secured = tls === undefined ? ofMesh(settings, pod) : ofSettings(settings, tls);
    if (secured instanceof Error) {
      counts?.failed();
      tunnel?.destroy();
      setImmediate(done, secured, null);
      return;
    }
    const { options, alpn = [] } = secured ?? {};
    // Who a pod of a mesh is shows in a whole handshake alone.
    const isResumed = tls !== undefined;
    if (options?.secureContext !== sessionContext) session = undefined;
    sessionContext = options?.secureContext;
    const place = addressOf(settings, pod);
    const socket =
      options === undefined
        ? (tunnel ?? connectTcp({ ...place, noDelay: true }))
        : openTls(tunnel === undefined ? place : { socket: tunnel }, alpn, {
            ...options,
            ...(isResumed && session !== undefined && { session }),
          });
    const started = performance.now();
    let isDone = false;
    const finish = (error: Error | null) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (error !== null) counts?.failed();
      if (error !== null && pod !== undefined && mayTryAnother(settings, [...tried, pod], begun))
        open(done, undefined, [...tried, pod], begun);
      else done(error, error === null ? socket : null);
    };
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no connection within ${settings.timeout} ms`));
    }, timeout);
    if (options !== undefined) {
      socket.on("session", (next: Buffer) => {
        if (options.secureContext === sessionContext) session = next;
      });
    }
    socket.on("error", finish);
    const onConnected = () => {
      if (tls !== undefined && isOtherProtocol(socket, settings.alpn)) {
        socket.destroy(new Error("the server does not speak HTTP/2"));
        return;
      }
      // Connections last: nothing of how they were opened stays with them.
      socket.on("error", ignoreError);
      socket.off("error", finish);
      const { time, interval, retries } = settings.keepAlive;
      socket.setKeepAlive(true, time, interval, retries);
      counts?.opened(performance.now() - started);
      if (pod !== undefined) connectedTo(settings.host, settings.port, pod, socket);
      if (counts !== undefined) socket.on("close", counts.closed);
      finish(null);
    };
    if (options === undefined && tunnel !== undefined) onConnected();
    else socket.once(options === undefined ? "connect" : "secureConnect", onConnected);
  };
  const { tunnel: openTunnel } = settings;
  if (openTunnel === undefined) return (done) => open(done, undefined);
  return (done) =>
    openTunnel(authorityOf(settings), (error, tunnel) => {
      if (tunnel === null) done(error, null);
      else open(done, tunnel);
    });
}

/** What a proxy is asked for. */
function authorityOf({ host, port, endpoint = [host, port] }: ConnectorSettings): string {
  return endpointName(endpoint);
}

/** What a connection is encrypted with. */
interface Secured {
  readonly options: ConnectionOptions;
  readonly alpn: readonly string[];
}

/** An Error: a file of a mounted Secret or ConfigMap can't be used. */
function ofSettings({ host, alpn }: ConnectorSettings, tls: DestinationTls): Secured | Error {
  try {
    return { options: tls.optionsFor(host), alpn };
  } catch (error) {
    if (error instanceof UnusableFile) return error;
    throw error;
  }
}

/** The mutual TLS of the pod's mesh; undefined: it is in none, or the gateway is not. An Error: it can't be had now. */
function ofMesh(
  { host, port, tunnel }: ConnectorSettings,
  pod: PodAddress | undefined,
): Secured | Error | undefined {
  const mesh = joinedMesh();
  if (mesh === undefined) return undefined;
  // DNS may still lead to a pod of the mesh, of which nothing would be known.
  if (pod === undefined && tunnel === undefined && podsOf(host, port) !== undefined)
    return new Error("no pod of the Service is ready");
  const account = pod && meshAccountOf(host, port, pod);
  if (account === undefined) return undefined;
  try {
    return { options: mesh.optionsFor(account, host), alpn: MESH_ALPN };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** By this name a sidecar of Istio knows mutual TLS of its mesh, whatever is spoken within. */
const MESH_ALPN = ["istio"];

/** The pod that a connection goes to; undefined: where DNS or a proxy leads. */
function podFor(
  { endpoint, host, port, socketPath }: ConnectorSettings,
  isTunnelled: boolean,
  tried: readonly PodAddress[],
): PodAddress | undefined {
  if (socketPath !== undefined || endpoint !== undefined) return endpoint;
  return isTunnelled ? undefined : podOf(host, port, tried);
}

/** Whether a pod that was not tried is there, and time for it. */
function mayTryAnother(
  { endpoint, host, port, timeout }: ConnectorSettings,
  tried: readonly PodAddress[],
  begun: number,
): boolean {
  if (endpoint !== undefined || performance.now() - begun >= timeout) return false;
  return podOf(host, port, tried) !== undefined;
}

function openTls(
  place: ConnectionOptions,
  alpn: readonly string[],
  options: ConnectionOptions,
): Socket {
  const socket = connectTls({
    ...place,
    ...options,
    ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
  });
  socket.setNoDelay(true);
  return socket;
}

function addressOf(
  { host, port, socketPath, lookup, allowHalfOpen = false }: ConnectorSettings,
  pod: PodAddress | undefined,
) {
  if (socketPath !== undefined) return { path: socketPath, allowHalfOpen };
  if (pod !== undefined) return { host: pod[0], port: pod[1], allowHalfOpen };
  return { host, port, allowHalfOpen, ...(lookup && { lookup: socketLookup(lookup) }) };
}

/** A lookup in the shape that sockets ask for. */
function socketLookup(lookup: Lookup): LookupFunction {
  return (name, options, done) =>
    lookup(name, (error, addresses) => {
      const [first] = addresses;
      if (error !== null || first === undefined) done(error ?? new Error("no address"), "");
      else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
}

function isOtherProtocol(socket: Socket, alpn: readonly string[]): boolean {
  const agreed = "alpnProtocol" in socket ? socket.alpnProtocol : undefined;
  return alpn.length === 1 && alpn[0] === "h2" && agreed !== "h2";
}

/** The host of a URL as sockets take it. */
export function socketHost(hostname: string): string {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 6 ? bare : hostname;
}

/** A way from a name to its addresses. `done` is called once: with an error, or with at least one address. */
export type Lookup = (
  name: string,
  done: (error: Error | null, addresses: readonly HostAddress[]) => void,
) => void;

/** One address of a name. */
export interface HostAddress {
  readonly address: string;
  /** 4 or 6: the version of IP. */
  readonly family: number;
}

/** A destination that a client chose and that it may not reach; the message is for the log. */
export class ForbiddenDestination extends Error {
  override readonly name = "ForbiddenDestination";
}
