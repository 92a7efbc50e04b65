import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type SecureContext } from "node:tls";
import type { UpstreamTls } from "../tls/upstream-tls.ts";
import { connectCounts } from "./connect-metrics.ts";
import type { KeepAliveSettings } from "./connection-settings.ts";
import type { Lookup } from "./lookup.ts";
import { endpointName, type PodAddress, podOf } from "./service-endpoints.ts";

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
  readonly tls?: UpstreamTls;
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
  /** `tunnel`: what is connected to the destination already; undefined: nothing is. */
  const open = (done: Parameters<Connect>[0], tunnel: Socket | undefined) => {
    const { tls, timeout } = settings;
    const options = tls?.optionsFor(settings.host);
    if (options?.secureContext !== sessionContext) session = undefined;
    sessionContext = options?.secureContext;
    const socket =
      options === undefined
        ? (tunnel ?? openTcp(settings))
        : openTls(settings, { ...options, session, ...(tunnel && { socket: tunnel }) });
    const counts = connectCounts(settings.countedAs ?? `${settings.host}:${settings.port}`);
    const started = performance.now();
    let isDone = false;
    const finish = (error: Error | null) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (error !== null) counts?.failed();
      done(error, error === null ? socket : null);
    };
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no connection within ${timeout} ms`));
    }, timeout);
    socket.on("session", (next: Buffer) => {
      if (options?.secureContext === sessionContext) session = next;
    });
    socket.on("error", finish);
    const onConnected = () => {
      if (tls !== undefined && isOtherProtocol(socket, settings.alpn)) {
        socket.destroy(new Error("the server does not speak HTTP/2"));
        return;
      }
      const { time, interval, retries } = settings.keepAlive;
      socket.setKeepAlive(true, time, interval, retries);
      counts?.opened(performance.now() - started);
      socket.once("close", () => counts?.closed());
      finish(null);
    };
    if (tls === undefined && tunnel !== undefined) onConnected();
    else socket.once(tls === undefined ? "connect" : "secureConnect", onConnected);
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

function openTcp(settings: ConnectorSettings): Socket {
  return connectTcp({ ...addressOf(settings), noDelay: true });
}

function openTls(
  { alpn, ...settings }: ConnectorSettings,
  { session, ...options }: ConnectionOptions,
): Socket {
  const socket = connectTls({
    ...(options.socket === undefined ? addressOf(settings) : {}),
    ...options,
    ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
    ...(session === undefined ? {} : { session }),
  });
  socket.setNoDelay(true);
  return socket;
}

function addressOf({
  host,
  port,
  socketPath,
  endpoint,
  lookup,
  allowHalfOpen = false,
}: Omit<ConnectorSettings, "tls" | "alpn" | "timeout" | "keepAlive" | "countedAs">) {
  if (socketPath !== undefined) return { path: socketPath, allowHalfOpen };
  const pod = endpoint ?? podOf(host, port);
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
