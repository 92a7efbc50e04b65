import {
  type Connect,
  connector,
  type DestinationTls,
  type Lookup,
  socketHost,
  systemKeepAlive,
} from "../../../net/connector.ts";
import { startupError } from "../../../process/startup-error.ts";
import { openUpstreamTls } from "../../../tls/upstream-tls.ts";
import type { UpstreamSettings } from "../upstream.ts";
import type { ServerUrl } from "./server-url.ts";

/** Functions that connect to one destination. */
export interface Connectors {
  /** Negotiates HTTP/2 or HTTP/1.1. */
  readonly negotiated: () => Connect;
  /** Connects for HTTP/1.1, whatever the settings say. */
  readonly http1: () => Connect;
  /** Connects for HTTP/2, whatever the settings say. */
  readonly http2: () => Connect;
}

/** Returns the functions that connect to a destination. Throws StartupError if a file of its TLS is unusable. */
export function connectorsTo(
  { url, socketPath, name }: ServerUrl,
  settings: Omit<UpstreamSettings, "version">,
  lookup?: Lookup,
): Connectors {
  const isTls = url.protocol === "https:";
  const tls = isTls ? openTls(settings) : undefined;
  const tunnel = settings.tunnel?.open();
  const open = (alpn: readonly string[]) =>
    connector({
      host: socketHost(url.hostname),
      port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
      ...(tls && { tls }),
      alpn,
      timeout: settings.connectTimeout,
      keepAlive: settings.keepAlive ?? systemKeepAlive,
      ...(socketPath !== undefined && { socketPath }),
      ...(settings.endpoint && { endpoint: settings.endpoint }),
      countedAs: settings.countedAs ?? name,
      ...(lookup && { lookup }),
      ...(tunnel && { tunnel }),
    });
  return {
    negotiated: () => open(["h2", "http/1.1"]),
    http1: () => open(["http/1.1"]),
    http2: () => open(["h2"]),
  };
}

function openTls({ url, tls = { verification: "full" } }: UpstreamSettings): DestinationTls {
  try {
    return openUpstreamTls(tls);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw startupError(`TLS to ${URL.parse(url)?.host}: ${why}`);
  }
}
