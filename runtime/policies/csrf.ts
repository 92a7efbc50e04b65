import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { crossSitePage } from "./csrf/cross-site.ts";

/** The sites whose pages may send requests, in addition to the gateway's own. */
export interface CsrfSettings {
  /** Origins as browsers write them: lower case, without the scheme's default port. */
  readonly additionalOrigins: ReadonlySet<string>;
}

/** Refuses a request from a page of another site; returns whether it did. */
export function refuseCrossSite(exchange: Exchange, { additionalOrigins }: CsrfSettings): boolean {
  const { original } = exchange;
  const head = {
    methods: [original.method, exchange.method],
    host: original.host,
    site: exchange.header("sec-fetch-site"),
    origin: exchange.header("origin"),
  };
  const page = crossSitePage(head, additionalOrigins);
  if (page === undefined) return false;
  logFields(exchange.record).set("error", page);
  refuse(exchange, 403, "Csrf", "CSRF validation failed");
  return true;
}
