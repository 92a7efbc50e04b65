import type { Exchange } from "../http/exchange.ts";
import { replacePath, replacePrefix } from "../http/routing/path.ts";

/** The upstream sees this Host: `host`, or `host:port`. */
export function rewriteAuthority(exchange: Exchange, authority: string): void {
  exchange.upstreamHost = authority;
}

/** The upstream sees this host, with the port that the client sent. */
export function rewriteHost(exchange: Exchange, host: string): void {
  const { host: sent, hostname } = exchange;
  exchange.upstreamHost = `${host}${sent.slice(hostname.length)}`;
}

/** The upstream sees the host that the client sent, with this port. */
export function rewritePort(exchange: Exchange, port: number): void {
  exchange.upstreamHost = `${exchange.hostname}:${port}`;
}

/** The upstream sees this path; the query stays. */
export function rewritePath(exchange: Exchange, path: string): void {
  exchange.upstreamTarget = replacePath(exchange.upstreamTarget, path);
}

/** The upstream sees `replacement` in the place of the prefix that the path begins with (`prefixes`: longest first). */
export function rewritePrefix(
  exchange: Exchange,
  prefixes: readonly string[],
  replacement: string,
): void {
  exchange.upstreamTarget = replacePrefix(exchange.upstreamTarget, prefixes, replacement);
}
