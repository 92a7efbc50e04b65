import {
  type Connect,
  connector,
  type OpenTunnel,
  socketHost,
  systemKeepAlive,
} from "../../../net/connector.ts";
import type { Lookup } from "../../../net/lookup.ts";
import { tunnelsThrough } from "../../../net/tunnel.ts";
import { startupError } from "../../../process/startup-error.ts";
import { UpstreamTls } from "../../../tls/upstream-tls.ts";
import { credentialFile } from "../credential-file.ts";
import type { ProxySettings, UpstreamSettings } from "../upstream.ts";
import { readServerUrl, type ServerUrl } from "./server-url.ts";

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
  settings: Omit<UpstreamSettings, "version">,
  lookup?: Lookup,
): Connectors {
  const isTls = url.protocol === "https:";
  const tls = isTls ? openTls(settings) : undefined;
  const tunnel = settings.tunnel && openProxy(settings.tunnel);
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
      ...(tunnel && { tunnel }),
    });
  return {
    negotiated: () => open("negotiated"),
    http1: () => open(undefined),
    http2: () => open("http2"),
  };
}

/** The way to a proxy, which is asked in HTTP/1.1. */
function openProxy(settings: ProxySettings): OpenTunnel {
  const proxy = readServerUrl(settings.url);
  if (proxy === undefined || proxy.socketPath !== undefined) {
    throw startupError(`"${settings.url.replace(/\/\/[^/]*@/, "//")}" is not the URL of a proxy`);
  }
  const connect = connectorsTo(proxy, settings).http1();
  const { authorization, authorizationFile } = settings;
  const shown =
    authorizationFile === undefined ? () => authorization : credentialFile(authorizationFile);
  return tunnelsThrough(proxy.name, connect, settings.connectTimeout, shown);
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
