import type { Exchange } from "../../http/exchange.ts";

/**
 * Whether a browser asks for a page, which a person sees: scripts, programs and what pages embed can't log in. Browsers say
 * it (Fetch Metadata); else who takes HTML is one.
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

/** Whether a page of another site has the browser send this. */
export function isCrossSite(exchange: Exchange): boolean {
  const site = exchange.header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}
