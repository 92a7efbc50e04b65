import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Whether a request to act comes from a page of this process: another site's page can name neither its origin nor its
 * key, and must ask before it sends JSON; a script of another user of the machine has not read the key of this page.
 */
export function isOwnPage({ headers }: IncomingMessage, key: string): boolean {
  const { host = "", origin } = headers;
  const site = headers["sec-fetch-site"];
  return (
    origin === `http://${host}` &&
    (site === undefined || site === "same-origin") &&
    headers["content-type"] === "application/json" &&
    isSame(String(headers["x-gwc-page"]), key)
  );
}

function isSame(given: string, key: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}
