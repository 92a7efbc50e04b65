import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { crossSitePage } from "./csrf/cross-site.ts";

/** Whose pages may send requests, besides the gateway's own. */
export interface CsrfSettings {
  /** Origins as browsers write them: lower case, without the scheme's own port. */
  readonly additionalOrigins: ReadonlySet<string>;
}

/** True: the request was refused, because a page of another site has sent it. */
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
