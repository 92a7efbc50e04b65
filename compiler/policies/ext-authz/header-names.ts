import { CONNECTION_HEADERS, isHeaderName } from "../../backends/parts/header-fields.ts";
import { childOf, type Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { NamedHeaders } from "./ext-authz-config.ts";

/** Whose headers they are: of a request that is asked about over gRPC or HTTP, or of the server's response over HTTP. */
export type HeaderSide = "call" | "request" | "response";

/** The pseudo headers of a request, which Envoy's protocols show among the headers. */
const PSEUDO_HEADERS: readonly string[] = [":authority", ":method", ":path", ":scheme"];

/** What a server that is asked over gRPC gets none of. */
const UNSHOWN: ReadonlySet<string> = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
]);

/** The names in lower case, without those that name no header or one that never goes on (reported). */
export function resolveHeaderNames(
  { names, origin }: NamedHeaders,
  side: HeaderSide,
  { diagnostics }: { readonly diagnostics: Diagnostics },
): readonly string[] {
  return names.flatMap((given, index) => {
    const name = given.toLowerCase();
    const at = childOf(origin, index);
    if (side === "call" && PSEUDO_HEADERS.includes(name)) return [name];
    // A name with a star is one, and nobody's: it is meant as a pattern.
    if (!isHeaderName(name) || name.includes("*")) {
      const pseudo = side === "call" ? `, or one of ${PSEUDO_HEADERS.join(", ")}` : "";
      const expected = `the whole name of a header such as "x-team"${pseudo}`;
      diagnostics.report("bad-format", at, { field: `"${given}"`, expected });
      return [];
    }
    const isUnsent = side === "call" ? UNSHOWN.has(name) : CONNECTION_HEADERS.has(name);
    if (isUnsent) diagnostics.report("unsent-header", at, { name: given, side });
    return isUnsent ? [] : [name];
  });
}
