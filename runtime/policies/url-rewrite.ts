import type { Exchange } from "../http/exchange.ts";
import { replacePath, replacePrefix } from "../http/routing/path.ts";

/** Sets the upstream's Host header: `host`, or `host:port`. */
export function rewriteAuthority(exchange: Exchange, authority: string): void {
  exchange.upstreamHost = authority;
}

/** Sets the host in the upstream's Host header; keeps the port that the client sent. */
export function rewriteHost(exchange: Exchange, host: string): void {
  const { host: sent, hostname } = exchange;
  exchange.upstreamHost = `${host}${sent.slice(hostname.length)}`;
}

/** Sets the port in the upstream's Host header; keeps the host that the client sent. */
export function rewritePort(exchange: Exchange, port: number): void {
  exchange.upstreamHost = `${exchange.hostname}:${port}`;
}

/** Sets the upstream's path; keeps the query. */
export function rewritePath(exchange: Exchange, path: string): void {
  exchange.upstreamTarget = replacePath(exchange.upstreamTarget, path);
}

/** Replaces the prefix that the upstream's path begins with (`prefixes`: longest first). */
export function rewritePrefix(
  exchange: Exchange,
  prefixes: readonly string[],
  replacement: string,
): void {
  exchange.upstreamTarget = replacePrefix(exchange.upstreamTarget, prefixes, replacement);
}
