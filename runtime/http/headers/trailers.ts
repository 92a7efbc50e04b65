import type { HeaderList } from "./header-list.ts";
import { HOP_BY_HOP } from "./hop-by-hop.ts";

/**
 * What trailers may not say (RFC 9110 6.5.1), besides what belongs to a connection: routing, who somebody is, what the body
 * is, and what caches and clients do with a response whose head they have acted on.
 */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  ...["authorization", "cookie", "host", "set-cookie", "www-authenticate"],
  ...["cache-control", "content-encoding", "content-range", "content-type", "location", "vary"],
]);

/** What a field may look like (RFC 9110 5.1, 5.5): an upstream over HTTP/1.1 may have sent another one. */
const [token, fieldValue] = [/^[a-z0-9!#$%&'*+\-.^_`|~]+$/, /^[\t\x20-\x7e\x80-\xff]*$/];

/** The trailers that may stand behind a body; others are dropped. */
export function sendableTrailers(trailers: HeaderList): readonly string[] {
  const kept: string[] = [];
  for (let i = 0; i < trailers.length; i += 2) {
    const name = (trailers[i] ?? "").toLowerCase();
    const value = trailers[i + 1] ?? "";
    if (HOP_BY_HOP.has(name) || HEAD_ONLY.has(name)) continue;
    if (token.test(name) && fieldValue.test(value)) kept.push(name, value);
  }
  return kept;
}
