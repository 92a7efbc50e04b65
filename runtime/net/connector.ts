import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type SecureContext } from "node:tls";
import type { Histogram, Sample } from "../metrics/family.ts";
import { type Metrics, UpstreamCounts } from "../metrics/metrics.ts";
import {
  upstreamConnectDuration,
  upstreamConnections,
  upstreamConnectionsActive,
} from "../metrics/table/upstreams.ts";
import { NoIdentity } from "../process/no-identity.ts";
import { processMetrics } from "../process/offered-values.ts";
import { SECOND } from "../process/units.ts";
import { UnusableFile } from "../process/unusable-file.ts";
import { afterRunning } from "../time/deadlines.ts";
import type { KeepAlive, KeepAliveSettings } from "./connection-settings.ts";
import { joinedMesh } from "./joined-mesh.ts";
import {
  connectedTo,
  endpointName,
  meshAccountOf,
  type PodAddress,
  podOf,
  podsOf,
} from "./service-endpoints.ts";
import { ignoreError, setKeepAlive } from "./socket-reads.ts";

/** Counts the connections to all upstreams. */
class ConnectMetrics extends UpstreamCounts<ConnectCounts> {
  constructor(metrics: Metrics) {
    super((upstream) => new ConnectCounts(metrics, upstream));
    const active = this.reader((counts) => counts.active);
    metrics.read(upstreamConnectionsActive, active);
  }
}

/** Counts the connections to one upstream. */
class ConnectCounts {
  /** Number of open connections. */
  active = 0;
  readonly #ok: Sample;
  readonly #failed: Sample;
  readonly #duration: Histogram;

  constructor(metrics: Metrics, upstream: string) {
    this.#ok = metrics.counter(upstreamConnections, upstream, "ok");
    this.#failed = metrics.counter(upstreamConnections, upstream, "failed");
    this.#duration = metrics.histogram(upstreamConnectDuration, upstream);
  }

  /** Counts a connection that opened after so many milliseconds. */
  opened(duration: number): void {
    this.active += 1;
    this.#ok.value += 1;
    this.#duration.add(duration / SECOND);
  }

  failed(): void {
    this.#failed.value += 1;
  }

  /** Counts the end of an open connection. Bound, because connections use it as their listener. */
  readonly closed = (): void => {
    this.active -= 1;
  };
}

/** Returns the counts of connections to an upstream, which survive a reload; `undefined` if no gateway runs yet. */
function connectCounts(upstream: string): ConnectCounts | undefined {
  return processMetrics()?.part(ConnectMetrics).to(upstream);
}

/** TLS to one destination. */
export interface DestinationTls {
  /** Whether handshakes resume earlier sessions, which does not verify the certificate again; absent if they do. */
  readonly resumes?: boolean;
  /** Options for a connection to `host`. Throws UnusableFile or NoIdentity if its certificate cannot be used. */
  optionsFor(host: string): ConnectionOptions;
}

/** A destination and the settings of connections to it. */
export interface ConnectorSettings {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Unix socket to connect to, instead of host and port. */
  readonly socketPath?: string;
  /** The one server to connect to, of all that the name stands for. If absent, any. */
  readonly endpoint?: PodAddress;
  /** TLS settings; plain TCP if absent. */
  readonly tls?: DestinationTls;
  /** Protocols to offer in ALPN. */
  readonly alpn: readonly string[];
  /** Whether the other direction stays open after the server has ended its own. */
  readonly allowHalfOpen?: boolean;
  /** Milliseconds to connect, handshake included. */
  readonly timeout: number;
  readonly keepAlive: KeepAlive;
  /** Name in metrics; host and port if absent. */
  readonly countedAs?: string;
  /** Replaces the system's name resolution. */
  readonly lookup?: Lookup;
  /** Connects through a proxy; directly if absent. */
  readonly tunnel?: OpenTunnel;
}

/**
 * Linux's defaults, except for the first probe: a vanished peer must be noticed before a proxy on the way forgets the
 * connection.
 */
export const systemKeepAlive: KeepAliveSettings = { time: 60_000, interval: 75_000, retries: 9 };

/** The parts of a socket that are needed to forward a server's bytes. */
export interface ServerConnection {
  on(event: "data", listener: (bytes: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "drain" | "end" | "close", listener: () => void): unknown;
  /** Returns false if the caller should wait for `drain`. */
  write(bytes: Uint8Array): boolean;
  pause(): unknown;
  resume(): unknown;
  /** Ends the sending side. */
  end(): unknown;
  destroy(): unknown;
}

/** Opens one connection. `done` is called once. */
export type Connect = (done: (error: Error | null, socket: Socket | null) => void) => void;

/** Opens a tunnel to `host:port` through a proxy. `done` is called once. */
export type OpenTunnel = (
  authority: string,
  done: (error: Error | null, socket: Socket | null) => void,
) => void;

/** Returns the function that opens connections to one destination. */
export function connector(settings: ConnectorSettings): Connect {
  // A cached TLS session saves the next connection a round trip, as long as the certificates are the same.
  let session: Buffer | undefined;
  let sessionContext: SecureContext | undefined;
  /**
   * `tunnel`: a connection through a proxy that leads to the destination; `undefined` without a proxy. `tried`: pods that could
   * not be reached; `begun`: time of the first attempt. Nothing was sent by then, so another pod can get the request.
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
    // A resumed handshake does not show the certificate, and so not the identity of a mesh pod.
    const isResumed = tls !== undefined && tls.resumes !== false;
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
      cancelTimeout();
      if (error !== null) counts?.failed();
      if (error !== null && pod !== undefined && mayTryAnother(settings, [...tried, pod], begun))
        open(done, undefined, [...tried, pod], begun);
      else done(error, error === null ? socket : null);
    };
    const cancelTimeout = afterRunning(timeout, () => {
      socket.destroy(new Error(`no connection within ${settings.timeout} ms`));
    });
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
      // Connections are long-lived: drop the references to how this one was opened.
      socket.on("error", ignoreError);
      socket.off("error", finish);
      setKeepAlive(socket, settings.keepAlive);
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

/** Returns the destination as a proxy expects it in CONNECT. */
function authorityOf({ host, port, endpoint = [host, port] }: ConnectorSettings): string {
  return endpointName(endpoint);
}

/** TLS options of a connection. */
interface Secured {
  readonly options: ConnectionOptions;
  readonly alpn: readonly string[];
}

/** Returns an Error if a file of a mounted Secret or ConfigMap is unusable, or if the gateway has no identity. */
function ofSettings({ host, alpn }: ConnectorSettings, tls: DestinationTls): Secured | Error {
  try {
    return { options: tls.optionsFor(host), alpn };
  } catch (error) {
    if (error instanceof UnusableFile || error instanceof NoIdentity) return error;
    throw error;
  }
}

/**
 * Returns the mutual TLS of the pod's mesh; `undefined` if the pod or the gateway belongs to no mesh. Returns an Error if there
 * is no certificate now.
 */
function ofMesh(
  { host, port, tunnel }: ConnectorSettings,
  pod: PodAddress | undefined,
): Secured | Error | undefined {
  const mesh = joinedMesh();
  if (mesh === undefined) return undefined;
  // DNS may still resolve to a pod of the mesh, whose identity would be unknown.
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

/** ALPN protocol by which a sidecar of Istio recognizes mutual TLS of its mesh, whatever protocol is inside. */
const MESH_ALPN = ["istio"];

/** Chooses the pod for a connection; `undefined` if DNS or a proxy decides. */
function podFor(
  { endpoint, host, port, socketPath }: ConnectorSettings,
  isTunnelled: boolean,
  tried: readonly PodAddress[],
): PodAddress | undefined {
  if (socketPath !== undefined || endpoint !== undefined) return endpoint;
  return isTunnelled ? undefined : podOf(host, port, tried);
}

/** Whether there is an untried pod, and time left for it. */
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

/** Adapts a lookup to the signature that sockets expect. */
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

/** Converts the host of a URL for sockets. */
export function socketHost(hostname: string): string {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 6 ? bare : hostname;
}

/** Resolves a name to addresses. `done` is called once: with an error, or with at least one address. */
export type Lookup = (
  name: string,
  done: (error: Error | null, addresses: readonly HostAddress[]) => void,
) => void;

/** One address of a name. */
export interface HostAddress {
  readonly address: string;
  /** Version of IP: 4 or 6. */
  readonly family: number;
}

/** A client chose a destination that it may not reach. The message is for the log. */
export class ForbiddenDestination extends Error {
  override readonly name = "ForbiddenDestination";
}
