import type { KeepAlive } from "../net/connection-settings.ts";
import {
  type Connect,
  connector,
  type DestinationTls,
  type Lookup,
  systemKeepAlive,
} from "../net/connector.ts";
import { startupError } from "../process/startup-error.ts";
import { openUpstreamTls, type UpstreamTlsSettings } from "../tls/upstream-tls.ts";

/** A server that connections are forwarded to. */
export interface TcpUpstream {
  /** `host:port`, for logs. */
  readonly name: string;
  readonly connect: Connect;
}

/** Complete settings of connections to a server. Times in milliseconds. */
export interface TcpUpstreamSettings {
  /** `host:port`, `[v6]:port`. */
  readonly address: string;
  readonly connectTimeout: number;
  /** The system's settings if absent. */
  readonly keepAlive?: KeepAlive;
  /** If absent, bytes are forwarded as received. */
  readonly tls?: UpstreamTlsSettings;
  /** Protocols to offer in ALPN; none if absent. */
  readonly alpn?: readonly string[];
}

/** Prepares connections to a server without opening one. Throws StartupError if the settings are invalid. */
export function openTcpUpstream(settings: TcpUpstreamSettings): TcpUpstream {
  const { address, ...rest } = settings;
  const [, bracketed, plain = "", digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/?#@[\]]+)):([0-9]{1,5})$/.exec(address) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    throw startupError("the address of a TCP backend is not host:port");
  }
  return tcpUpstreamTo({ host: bracketed ?? plain, port }, rest, openTls(settings));
}

/** Prepares connections to a parsed destination. */
export function tcpUpstreamTo(
  { host, port }: { readonly host: string; readonly port: number },
  { connectTimeout, keepAlive = systemKeepAlive, alpn = [] }: Omit<TcpUpstreamSettings, "address">,
  tls: DestinationTls | undefined,
  /** Replaces the system's name resolution, with the name of all its destinations in metrics. */
  found?: { readonly lookup: Lookup; readonly countedAs: string },
): TcpUpstream {
  const connect = connector({
    host,
    port,
    ...(tls && { tls }),
    alpn,
    allowHalfOpen: true,
    timeout: connectTimeout,
    keepAlive,
    ...found,
  });
  return { name: `${host.includes(":") ? `[${host}]` : host}:${port}`, connect };
}

/** Reads the files of TLS to a server. Throws StartupError. */
export function openTls({ tls }: Pick<TcpUpstreamSettings, "tls">): DestinationTls | undefined {
  if (tls === undefined) return undefined;
  try {
    return openUpstreamTls(tls);
  } catch (error) {
    throw startupError(`TLS to a backend: ${error instanceof Error ? error.message : error}`);
  }
}
