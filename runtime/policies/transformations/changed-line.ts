import type { RequestLineChanges } from "../../http/request-line.ts";
import { canonicalHost } from "../../http/routing/canonical-host.ts";
import type { RequestChanges } from "./message-changes.ts";
import { targetValue } from "./target-value.ts";

/** What the values of pseudo headers make of the request line; one that can't be on the wire changes nothing. */
export function changedLine({
  method,
  path,
  authority,
  scheme,
}: RequestChanges): RequestLineChanges {
  return {
    method: isMethod(method) ? method : undefined,
    target: path === undefined ? undefined : targetValue(path),
    host: typeof authority === "string" ? canonicalHost(authority.toLowerCase()) : undefined,
    scheme: scheme === "http" || scheme === "https" ? scheme : undefined,
  };
}

/** CONNECT asks for a tunnel, which no change of a request opens. */
function isMethod(value: unknown): value is string {
  return typeof value === "string" && /^[A-Z]{1,32}$/.test(value) && value !== "CONNECT";
}
