import type { KeepAliveSettings } from "../net/connection-settings.ts";
import { type Connect, connector, type Lookup, systemKeepAlive } from "../net/connector.ts";
import { startupError } from "../process/startup-error.ts";
import { UpstreamTls, type UpstreamTlsSettings } from "../tls/upstream-tls.ts";

/** A server that connections are passed on to. */
export interface TcpUpstream {
  /** `host:port`, for logs. */
  readonly name: string;
  readonly connect: Connect;
}

/** How a server is reached, complete. Times in milliseconds. */
export interface TcpUpstreamSettings {
  /** `host:port`, `[v6]:port`. */
  readonly address: string;
  readonly connectTimeout: number;
  /** Absent: the system's. */
  readonly keepAlive?: KeepAliveSettings;
  /** Absent: bytes go on as they are. */
  readonly tls?: UpstreamTlsSettings;
  /** What is offered in ALPN; absent: nothing. */
  readonly alpn?: readonly string[];
}

/** Prepares the way to a server. Nothing is connected yet. Throws StartupError when the settings can't be used. */
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

/** The same for a destination that is taken apart already. */
export function tcpUpstreamTo(
  { host, port }: { readonly host: string; readonly port: number },
  { connectTimeout, keepAlive = systemKeepAlive, alpn = [] }: Omit<TcpUpstreamSettings, "address">,
  tls: UpstreamTls | undefined,
  /** Another way from its name to addresses, and what metrics call all that are found so. */
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

/** TLS to a server, with its files read. Throws StartupError. */
export function openTls({ tls }: Pick<TcpUpstreamSettings, "tls">): UpstreamTls | undefined {
  if (tls === undefined) return undefined;
  try {
    return new UpstreamTls(tls);
  } catch (error) {
    throw startupError(`TLS to a backend: ${error instanceof Error ? error.message : error}`);
  }
}
