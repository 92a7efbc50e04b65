import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { PageAccess } from "./login/page-access.ts";

/**
 * Whether a request to act comes from a page of this process: another site's page can name neither its origin nor its
 * key, and must ask before it sends JSON; a script of another user of the machine has not read the key of this page.
 */
export function isOwnPage(request: IncomingMessage, key: string, access: PageAccess): boolean {
  const { headers } = request;
  return (
    access.isOwnOrigin(request) &&
    isOwnRead(request) &&
    headers["content-type"] === "application/json" &&
    isSame(String(headers["x-gwc-page"]), key)
  );
}

/**
 * Whether a request to read comes from no other site. Another site cannot read the response, but some questions take
 * seconds to decide.
 */
export function isOwnRead({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

function isSame(given: string, key: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}
