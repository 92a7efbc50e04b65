import type { KeepAliveSettings } from "../../../runtime/net/connection-settings.ts";
import type { TlsVersion } from "../../../runtime/tls/tls-settings.ts";
import type { FrontendValue } from "../../1-parse/standalone/frontend.ts";
import { defaultFrontend, type FrontendConfig, frontendTraffic } from "../../config/frontend.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Section } from "../../model/traffic.ts";
import { parseTimer } from "../../schema/duration.ts";

type HttpValue = NonNullable<FrontendValue["http"]>;
type TlsValue = NonNullable<FrontendValue["tls"]>;
type TcpValue = NonNullable<FrontendValue["tcp"]>;
type KeepAliveValue = NonNullable<TcpValue["keepalives"]>;

/** The frontend with its defaults. `origin` is the file's. */
export function readFrontend(value: FrontendValue | undefined, origin: Origin): FrontendConfig {
  const rest = defaultFrontend(origin);
  if (value === undefined) return rest;
  const { http = {}, tls = {}, tcp } = value;
  const at = childOf(origin, "frontendPolicies", "tls");
  return {
    maxBufferSize: http.maxBufferSize ?? rest.maxBufferSize,
    connections: readConnections(http, tcp ?? {}, rest.connections),
    tls: {
      handshakeTimeout: time(tls.handshakeTimeout, rest.tls.handshakeTimeout),
      alpn: tls.alpn ?? rest.tls.alpn,
      minVersion: readTlsVersion(tls.minVersion) ?? rest.tls.minVersion,
      maxVersion: readTlsVersion(tls.maxVersion) ?? rest.tls.maxVersion,
      versionOrigin: versionOrigin(tls, at, origin),
      cipherSuites: tls.cipherSuites ?? rest.tls.cipherSuites,
      suitesOrigin: tls.cipherSuites === undefined ? origin : childOf(at, "cipherSuites"),
    },
  };
}

/** The sections of a frontend that need something of the listeners. `origin`: where it stands. */
export function frontendSections(
  value: FrontendValue | undefined,
  origin: Origin,
): readonly Section[] {
  return Object.entries(frontendTraffic).flatMap(([field, actsOn]): readonly Section[] => {
    const path = field.split(".");
    const found = path.reduce<unknown>(
      (at, step) => (typeof at === "object" && at !== null ? Reflect.get(at, step) : undefined),
      value,
    );
    return found === undefined ? [] : [{ name: field, actsOn, origin: childOf(origin, ...path) }];
  });
}

/** Keepalive with its defaults, in milliseconds. */
export function readKeepAlive(
  value: KeepAliveValue,
  { time: idle, interval, retries }: KeepAliveSettings,
): KeepAliveSettings {
  return {
    time: wholeSeconds(time(value.time, idle)),
    interval: wholeSeconds(time(value.interval, interval)),
    retries: value.retries ?? retries,
  };
}

/** A TLS version as OpenSSL calls it. */
export function readTlsVersion(value: string | number | undefined): TlsVersion | undefined {
  if (value === undefined) return undefined;
  return /1[._]3$/.test(String(value)) ? "TLSv1.3" : "TLSv1.2";
}

function readConnections(
  http: HttpValue,
  tcp: TcpValue,
  rest: FrontendConfig["connections"],
): FrontendConfig["connections"] {
  const interval = http.http2KeepaliveInterval;
  const duration = http.maxConnectionDuration;
  return {
    keepAlive: readKeepAlive(tcp.keepalives ?? tcp.keepalive ?? {}, rest.keepAlive),
    maxHeaders: http.http1MaxHeaders ?? rest.maxHeaders,
    minBodyRate: http.minRequestBodyRate ?? rest.minBodyRate,
    idleTimeout: time(http.http1IdleTimeout, rest.idleTimeout),
    maxConnections: tcp.maxConnections ?? rest.maxConnections,
    ...(duration === undefined ? {} : { maxDuration: time(duration, 0) }),
    http2: {
      windowSize: Math.min(http.http2WindowSize ?? rest.http2.windowSize, MAX_WINDOW),
      connectionWindowSize: Math.min(
        Math.max(
          http.http2ConnectionWindowSize ?? rest.http2.connectionWindowSize,
          MIN_CONNECTION_WINDOW,
        ),
        MAX_WINDOW,
      ),
      frameSize: http.http2FrameSize ?? rest.http2.frameSize,
      maxHeaderSize: http.http2MaxHeaderSize ?? rest.http2.maxHeaderSize,
      ...(interval === undefined ? {} : { keepAliveInterval: time(interval, 0) }),
      keepAliveTimeout: time(http.http2KeepaliveTimeout, rest.http2.keepAliveTimeout),
    },
  };
}

/** The largest window of HTTP/2 (RFC 9113 6.9.1). */
const MAX_WINDOW = 2_147_483_647;
/** What a connection's window begins with, and is never less than (RFC 9113 6.9.2). */
const MIN_CONNECTION_WINDOW = 65_535;

function versionOrigin(
  tls: Pick<TlsValue, "minVersion" | "maxVersion">,
  at: Origin,
  origin: Origin,
): Origin {
  if (tls.minVersion !== undefined) return childOf(at, "minVersion");
  return tls.maxVersion === undefined ? origin : childOf(at, "maxVersion");
}

function time(text: string | undefined, otherwise: number): number {
  return (text === undefined ? undefined : parseTimer(text)) ?? otherwise;
}

/** The kernel counts these in seconds. */
function wholeSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000) * 1000;
}
