import type { Exchange } from "../../http/exchange.ts";

/**
 * Whether a browser requests a page for a person, who can log in; not a script, a program or embedded content. Decided by
 * Fetch Metadata, or else by whether HTML is accepted.
 */
export function asksForPage(exchange: Exchange): boolean {
  const { method, upgrade } = exchange;
  if ((method !== "GET" && method !== "HEAD") || upgrade !== undefined) return false;
  if (exchange.header("x-requested-with") !== undefined) return false;
  const mode = exchange.header("sec-fetch-mode");
  if (mode !== undefined) return mode === "navigate";
  return /(?:^|[\s,])(?:text\/html|application\/xhtml\+xml)(?:$|[\s,;])/i.test(
    exchange.header("accept") ?? "",
  );
}

/** Whether the request was caused by a page of another site. */
export function isCrossSite(exchange: Exchange): boolean {
  const site = exchange.header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}
