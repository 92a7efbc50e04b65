import type { Exchange } from "../http/exchange.ts";

/** The CORS response headers with their values; `undefined` if a header is not sent. */
export interface CorsResponse {
  /** `Access-Control-Allow-Methods`: names joined by `, `, or `*` for the requested method. */
  readonly allowMethods?: string;
  /** `Access-Control-Allow-Headers`: names joined by `, `, or `*` for the requested headers. */
  readonly allowHeaders?: string;
  /** `Access-Control-Expose-Headers`: names joined by `, `. */
  readonly exposeHeaders?: string;
  /** Whether pages may send cookies and read the response. */
  readonly allowCredentials: boolean;
  /** `Access-Control-Max-Age`: whole seconds. */
  readonly maxAge?: string;
}

/** The allowed origins and their response headers. */
export interface CorsSettings extends CorsResponse {
  /** Origins as browsers write them: lower case, without the scheme's default port. `null` is the opaque origin. */
  readonly allowOrigins: ReadonlySet<string>;
  /** `https://*.example.com`, split at the star. */
  readonly allowOriginPatterns?: readonly OriginPattern[];
}

/** The parts of an origin before and after `*`, which matches one or more host labels but no port. */
export interface OriginPattern {
  /** `https://` */
  readonly start: string;
  /** `.example.com`, `.example.com:8443`, or empty for any host on the scheme's default port. */
  readonly end: string;
}

/**
 * Applies CORS for the listed origins (WHATWG Fetch, 3.3). Returns true if the request was answered (a preflight, or any
 * OPTIONS of an allowed origin). Other requests continue; the headers are added to their response, whether the gateway or
 * an upstream sends it.
 *
 * Only the policy decides who may read the response: CORS headers of the upstream are replaced or removed.
 */
export function applyCors(exchange: Exchange, cors: CorsSettings): boolean {
  exchange.addResponseHeader("vary", "Origin");
  const origin = exchange.header("origin");
  if (origin === undefined) return false;
  return allowsOrigin(cors, origin) ? admit(exchange, cors, origin) : refuseOrigin(exchange);
}

/** Does the same for `allowOrigins: ["*"]`. */
export function applyCorsToAnyOrigin(exchange: Exchange, cors: CorsResponse): boolean {
  exchange.addResponseHeader("vary", "Origin");
  const origin = exchange.header("origin");
  return origin === undefined ? false : admit(exchange, cors, origin);
}

/** Whether pages of an origin may send requests. `origin` is the header's value. */
function allowsOrigin(cors: CorsSettings, origin: string): boolean {
  if (cors.allowOrigins.has(origin)) return true;
  const canonical = canonicalOrigin(origin);
  if (canonical !== origin && cors.allowOrigins.has(canonical)) return true;
  return cors.allowOriginPatterns?.some((pattern) => matches(pattern, canonical)) === true;
}

function admit(exchange: Exchange, cors: CorsResponse, origin: string): boolean {
  exchange.setResponseHeader("access-control-allow-origin", origin);
  if (cors.allowCredentials) {
    exchange.setResponseHeader("access-control-allow-credentials", "true");
  } else {
    // An upstream's own `true` combined with the echoed origin would allow more than the policy.
    exchange.removeResponseHeader("access-control-allow-credentials");
  }
  if (cors.exposeHeaders !== undefined) {
    exchange.setResponseHeader("access-control-expose-headers", cors.exposeHeaders);
  }
  if (exchange.method !== "OPTIONS") return false;
  respondToPreflight(exchange, cors);
  return true;
}

function respondToPreflight(exchange: Exchange, cors: CorsResponse): void {
  const asked = exchange.header("access-control-request-method") ?? "";
  const askedHeaders = exchange.header("access-control-request-headers") ?? "";
  const response: string[] = [];
  grant(response, "access-control-allow-methods", cors.allowMethods, asked, cors);
  grant(response, "access-control-allow-headers", cors.allowHeaders, askedHeaders, cors);
  if (cors.maxAge !== undefined) response.push("access-control-max-age", cors.maxAge);
  exchange.addResponseHeader(
    "vary",
    "Access-Control-Request-Method, Access-Control-Request-Headers",
  );
  exchange.respond(200, response);
}

/**
 * With credentials, `*` is the name of a header and not a wildcard (Fetch 3.3.5), so the requested value is echoed instead.
 */
function grant(
  response: string[],
  name: string,
  allowed: string | undefined,
  asked: string,
  cors: CorsResponse,
): void {
  if (allowed === undefined) return;
  if (allowed !== "*") response.push(name, allowed);
  else if (asked !== "") response.push(name, asked);
  else if (!cors.allowCredentials) response.push(name, "*");
}

function refuseOrigin(exchange: Exchange): boolean {
  exchange.removeResponseHeader("access-control-allow-origin");
  if (exchange.method !== "OPTIONS") return false;
  if ((exchange.header("access-control-request-method") ?? "") === "") return false;
  exchange.respond(200, []);
  return true;
}

/**
 * Normalizes an origin (RFC 6454 4): scheme and host in lower case, without the scheme's default port, as browsers send it.
 */
function canonicalOrigin(origin: string): string {
  const lower = origin.toLowerCase();
  if (lower.startsWith("https://") && lower.endsWith(":443")) return lower.slice(0, -4);
  if (lower.startsWith("http://") && lower.endsWith(":80")) return lower.slice(0, -3);
  return lower;
}

function matches({ start, end }: OriginPattern, origin: string): boolean {
  if (origin.length <= start.length + end.length) return false;
  if (!origin.startsWith(start) || !origin.endsWith(end)) return false;
  return HOST_LABELS.test(origin.slice(start.length, origin.length - end.length));
}

/** Letters, digits and dots, so that `https://evil.test:1.example.com` is not a subdomain. */
const HOST_LABELS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
