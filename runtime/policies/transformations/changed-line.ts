import { canonicalHost, type RequestLineChanges, SERVED_METHODS } from "../../http/request-line.ts";
import type { RequestChanges } from "./message-changes.ts";
import { targetValue } from "./target-value.ts";

/**
 * What the values of pseudo headers make of the request line; one that has no value changes nothing. `undefined` if one has a
 * value that can't be on the wire.
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

/** There was a value, and nothing could be made of it. */
function isLost(value: unknown, made: string | undefined): boolean {
  return value !== undefined && value !== null && made === undefined;
}

/** CONNECT asks for a tunnel, which no change of a request opens. */
function methodValue(value: unknown): string | undefined {
  const isMethod = typeof value === "string" && SERVED_METHODS.has(value) && value !== "CONNECT";
  return isMethod ? value : undefined;
}

function schemeValue(value: unknown): "http" | "https" | undefined {
  return value === "http" || value === "https" ? value : undefined;
}
