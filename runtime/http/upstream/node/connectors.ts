import { type Connect, connector, socketHost, systemKeepAlive } from "../../../net/connector.ts";
import type { Lookup } from "../../../net/lookup.ts";
import { startupError } from "../../../process/startup-error.ts";
import { UpstreamTls } from "../../../tls/upstream-tls.ts";
import type { UpstreamSettings } from "../upstream.ts";
import type { ServerUrl } from "./server-url.ts";

/** The ways to connect to one destination. */
export interface Connectors {
  /** What the server chooses, of HTTP/2 and HTTP/1.1. */
  readonly negotiated: () => Connect;
  /** HTTP/1.1, whatever the settings say. */
  readonly http1: () => Connect;
  /** HTTP/2, whatever the settings say. */
  readonly http2: () => Connect;
}

/** Makes the ways to one destination. Throws StartupError when a file of its TLS can't be used. */
export function connectorsTo(
  { url, socketPath, name }: ServerUrl,
  settings: UpstreamSettings,
  lookup?: Lookup,
): Connectors {
  const isTls = url.protocol === "https:";
  const tls = isTls ? openTls(settings) : undefined;
  const open = (version: UpstreamSettings["version"]) =>
    connector({
      host: socketHost(url.hostname),
      port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
      ...(tls && { tls }),
      alpn: alpnOf(version),
      timeout: settings.connectTimeout,
      keepAlive: settings.keepAlive ?? systemKeepAlive,
      ...(socketPath !== undefined && { socketPath }),
      ...(settings.endpoint && { endpoint: settings.endpoint }),
      countedAs: settings.countedAs ?? name,
      ...(lookup && { lookup }),
    });
  return {
    negotiated: () => open("negotiated"),
    http1: () => open(undefined),
    http2: () => open("http2"),
  };
}

function alpnOf(version: UpstreamSettings["version"]): readonly string[] {
  if (version === undefined) return ["http/1.1"];
  return version === "http2" ? ["h2"] : ["h2", "http/1.1"];
}

function openTls({ url, tls = { verification: "full" } }: UpstreamSettings): UpstreamTls {
  try {
    return new UpstreamTls(tls);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw startupError(`TLS to ${URL.parse(url)?.host}: ${why}`);
  }
}
