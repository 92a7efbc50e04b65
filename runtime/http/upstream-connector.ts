import type { buildConnector } from "undici";
import { lateError } from "../gateway/startup-error.ts";
import { connector, socketHost } from "./connector.ts";
import type { UpstreamSettings } from "./upstream.ts";
import { UpstreamTls } from "./upstream-tls.ts";

/**
 * Connections to one destination, in the shape that undici asks for. Throws StartupError when a file of its TLS can't be
 * used.
 */
export function undiciConnector(
  { protocol, hostname, port }: URL,
  settings: UpstreamSettings,
): buildConnector.connector {
  const isTls = protocol === "https:";
  const { version } = settings;
  const connect = connector({
    host: socketHost(hostname),
    port: port === "" ? (isTls ? 443 : 80) : Number(port),
    ...(isTls ? { tls: openTls(settings) } : {}),
    alpn: version === undefined ? ["http/1.1"] : version === "http2" ? ["h2"] : ["h2", "http/1.1"],
    hasPriorKnowledge: version === "http2",
    timeout: settings.connectTimeout,
    keepAlive: settings.keepAlive ?? systemKeepAlive,
  });
  return (_options, done) =>
    connect((error, socket) => {
      if (socket === null) done(error ?? new Error("no connection"), null);
      else done(null, socket);
    });
}

/** Linux's own, but for the first probe: a peer that is gone is noticed before a proxy on the way forgets. */
const systemKeepAlive = { time: 60_000, interval: 75_000, retries: 9 };

function openTls({ url, tls = { verification: "full" } }: UpstreamSettings): UpstreamTls {
  try {
    return new UpstreamTls(tls);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw lateError(`TLS to ${URL.parse(url)?.host}: ${why}`);
  }
}
