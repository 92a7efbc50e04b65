import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";

/** The origins from which browsers may use an MCP route. */
export interface OriginSettings {
  /** The route's hostnames, lower case: `api.example.com`, `*.example.com`. `undefined` if the route accepts any. */
  readonly hostnames?: readonly string[];
  /** The origins of the CORS policy: `https://app.example.com`, `https://*.example.com`, `*`. */
  readonly allowOrigins: readonly string[];
}

/**
 * Answers a request of a foreign web page with 403; returns whether it did. DNS rebinding makes a browser take the
 * attacker's name for this gateway's address: Origin and Host then agree with each other and are both foreign, so neither
 * can be trusted to verify the other (MCP, transports: servers MUST validate Origin). Requests without Origin do not come
 * from pages and pass.
 */
export function refuseForeignOrigin(exchange: Exchange, settings: OriginSettings): boolean {
  const origin = exchange.header("origin");
  if (origin === undefined || isOriginAllowed(origin, exchange.hostname, settings)) return false;
  logFields(exchange.record).set("error", `Origin not allowed: ${origin}`);
  refuse(exchange, 403, "MCP", "Origin not allowed");
  return true;
}

function isOriginAllowed(origin: string, hostname: string, settings: OriginSettings): boolean {
  const lower = origin.toLowerCase();
  for (const allowed of settings.allowOrigins) if (matchesOrigin(allowed, lower)) return true;
  const page = hostnameOf(lower);
  if (page === undefined) return false;
  for (const own of settings.hostnames ?? []) if (matchesHostname(own, page)) return true;
  // Without hostnames, a route trusts only names that no foreign DNS server can resolve to it: those of this machine, and
  // addresses.
  if (isLoopback(page)) return isLoopback(hostname);
  return isAddress(page) && page === hostname;
}

function matchesOrigin(allowed: string, origin: string): boolean {
  if (allowed === "*") return true;
  const star = allowed.indexOf("*");
  const pattern = allowed.toLowerCase();
  if (star === -1) return pattern === origin;
  const before = pattern.slice(0, star);
  const after = pattern.slice(star + 1);
  if (origin.length <= before.length + after.length) return false;
  if (!origin.startsWith(before) || !origin.endsWith(after)) return false;
  return HOST_LABELS.test(origin.slice(before.length, origin.length - after.length));
}

/** The strings that `*` matches: letters, digits and dots, so that `https://evil.test/.example.com` is not a subdomain. */
const HOST_LABELS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

function matchesHostname(own: string, hostname: string): boolean {
  if (!own.startsWith("*.")) return own === hostname;
  return hostname.length > own.length - 1 && hostname.endsWith(own.slice(1));
}

/** Returns the host of a serialised origin (RFC 6454 6.2), IPv6 in brackets; `undefined` for `null` and malformed origins. */
function hostnameOf(origin: string): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:.]+\]|[^/?#:@[\]\s]+)(?::[0-9]{1,5})?$/.exec(
    origin,
  );
  return match?.[1];
}

/** Whether a browser resolves a name to its own machine: `localhost` and names under it (RFC 6761 6.3). */
function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(hostname)
  );
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(hostname);
}
