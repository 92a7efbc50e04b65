import { canonicalHost, type RequestLineChanges, SERVED_METHODS } from "../../http/request-line.ts";
import type { RequestChanges } from "./message-changes.ts";
import { targetValue } from "./target-value.ts";

/**
 * Returns the request line from the values of pseudo headers; absent values change nothing. Returns `undefined` if a value
 * is invalid.
 */
export function changedLine(changes: RequestChanges): RequestLineChanges | undefined {
  const { method, path, authority, scheme } = changes;
  const line = {
    method: methodValue(method),
    target: targetValue(path),
    host: typeof authority === "string" ? canonicalHost(authority.toLowerCase()) : undefined,
    scheme: schemeValue(scheme),
  };
  const isInvalid =
    isLost(method, line.method) ||
    isLost(path, line.target) ||
    isLost(authority, line.host) ||
    isLost(scheme, line.scheme);
  return isInvalid ? undefined : line;
}

/** Whether a value is present but invalid. */
function isLost(value: unknown, made: string | undefined): boolean {
  return value !== undefined && value !== null && made === undefined;
}

/**
 * Returns a method for a request of the gateway; `undefined` if the value is no method that it serves. CONNECT requests a
 * tunnel, which a changed request cannot open.
 */
export function methodValue(value: unknown): string | undefined {
  const isMethod = typeof value === "string" && SERVED_METHODS.has(value) && value !== "CONNECT";
  return isMethod ? value : undefined;
}

function schemeValue(value: unknown): "http" | "https" | undefined {
  return value === "http" || value === "https" ? value : undefined;
}
