import { CONNECTION_HEADERS, isHeaderName } from "../../backends/parts/header-fields.ts";
import { childOf, type Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { NamedHeaders } from "./ext-authz-config.ts";

/** Message that the headers belong to: a request checked over gRPC or HTTP, or the server's HTTP response. */
export type HeaderSide = "call" | "request" | "response";

/** Pseudo-headers, which Envoy's protocols list among the headers of a request. */
const PSEUDO_HEADERS: readonly string[] = [":authority", ":method", ":path", ":scheme"];

/** Headers that are never sent to a gRPC authorization server. */
const UNSHOWN: ReadonlySet<string> = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
]);

/** Returns the names in lower case; reports and drops malformed names and headers that are never forwarded. */
export function resolveHeaderNames(
  { names, origin }: NamedHeaders,
  side: HeaderSide,
  { diagnostics }: { readonly diagnostics: Diagnostics },
): readonly string[] {
  return names.flatMap((given, index) => {
    const name = given.toLowerCase();
    const at = childOf(origin, index);
    if (side === "call" && PSEUDO_HEADERS.includes(name)) return [name];
    // A star is valid in a header name, but here it is meant as a pattern.
    if (!isHeaderName(name) || name.includes("*")) {
      const pseudo = side === "call" ? `, or one of ${PSEUDO_HEADERS.join(", ")}` : "";
      const expected = `a full header name such as "x-team"${pseudo}`;
      diagnostics.report("bad-format", at, { field: `"${given}"`, expected });
      return [];
    }
    const isUnsent = side === "call" ? UNSHOWN.has(name) : CONNECTION_HEADERS.has(name);
    if (isUnsent) diagnostics.report("unsent-header", at, { name: given, side });
    return isUnsent ? [] : [name];
  });
}
