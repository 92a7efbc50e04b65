import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";

/** Whose pages may send requests, besides the gateway's own. */
export interface CsrfSettings {
  /** Origins as browsers write them: lower case, without the scheme's own port. */
  readonly additionalOrigins: ReadonlySet<string>;
}

/**
 * True: the request was refused. Safe methods pass (RFC 9110 9.2.1), and so do requests that no browser sends
 * (without Sec-Fetch-Site and Origin). Sec-Fetch-Site decides where it is sent; else Origin has to be Host's.
 */
export function refuseCrossSite(exchange: Exchange, { additionalOrigins }: CsrfSettings): boolean {
  const { original } = exchange;
  // What a page may send without harm is not made harmful before routing.
  if (isSafe(original.method) && isSafe(exchange.method)) return false;
  const site = exchange.header("sec-fetch-site");
  if (site === "same-origin" || site === "none") return false;
  const origin = exchange.header("origin");
  if (origin === undefined) {
    if (site === undefined) return false;
  } else if (
    additionalOrigins.has(origin) ||
    (site === undefined && isOwn(origin, original.host))
  ) {
    return false;
  }
  const page = origin === undefined ? `Sec-Fetch-Site ${site}` : `Origin ${origin}`;
  logFields(exchange.record).set("error", page);
  refuse(exchange, 403, "Csrf", "CSRF validation failed");
  return true;
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Whether an origin is Host's; the scheme is not compared, because TLS may end before the gateway. */
function isOwn(origin: string, host: string): boolean {
  const start = origin.indexOf("://");
  if (start === -1) return false;
  const port = origin.startsWith("https:") ? ":443" : ":80";
  const authority = origin.slice(start + 3).toLowerCase();
  return authority === host || `${authority}${port}` === host;
}
