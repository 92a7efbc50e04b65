import { isTargetCode, SERVED_METHODS } from "../http1/request-line.ts";
import { canonicalHost } from "../routing/canonical-host.ts";
import { canonicalTarget } from "../routing/canonical-path.ts";
import type { FramingFields } from "./framing-fields.ts";

/** What the head of a request says about itself; read in one walk before any route sees it. */
export interface RequestFacts {
  /** The Host header, lower case and without a dot at the end of the name; empty without one (HTTP/1.0). */
  readonly host: string;
  /** The target in origin form, its path in the one form of `canonicalPath`. */
  readonly target: string;
  /** The target in origin form as it was sent. */
  readonly sentTarget: string;
  /** Two servers may read the path differently; only where paths are kept as they are sent. */
  readonly hasAmbiguousPath: boolean;
  /** The announced bytes of the body; undefined when it is chunked or when there is none. */
  readonly length: number | undefined;
  readonly hasBody: boolean;
  /** Names in Connection beyond `keep-alive` and `close`: they end here, before any policy adds headers. */
  readonly namesConnectionHeaders: boolean;
}

/** Why a request is not served: the status, and a detail for the log. */
export interface RequestFault {
  readonly status: 400 | 417 | 431;
  readonly detail: string;
}

/** What a port lets in. */
export interface RequestLimits {
  /** The most header fields. */
  readonly maxHeaders: number;
  /** A listener of the port forwards paths as they are sent: an encoded slash is its own business. */
  readonly keepsPaths: boolean;
}

/**
 * Reads the facts, or says why the request is malformed. Requests of every protocol come through here, whatever their parser
 * has checked before: no protocol lets in a method, a target, a host or a field that another one refuses. `version` is `1.1`,
 * `1.0` or `2`.
 */
export function validateRequest(
  method: string,
  target: string,
  version: string,
  fields: FramingFields,
  { maxHeaders, keepsPaths }: RequestLimits,
): RequestFacts | RequestFault {
  const fault = checkLine(method, target) ?? fields.fault;
  if (fault !== undefined) return { status: 400, detail: fault };
  const strict = target === "*" ? target : canonicalTarget(target);
  const canonical = strict ?? (keepsPaths ? canonicalTarget(target, true) : undefined);
  if (canonical === undefined) return { status: 400, detail: "ambiguous path" };
  if (fields.count > maxHeaders) return { status: 431, detail: "too many headers" };
  if (fields.hasTwoHosts) return { status: 400, detail: "two Host headers" };
  const { length, isChunked, hasOtherCoding, namesConnectionHeaders, expect } = fields;
  if (hasOtherCoding === true || (isChunked && version !== "1.1")) {
    return { status: 400, detail: "transfer coding" };
  }
  let host = fields.host?.toLowerCase();
  if (host === undefined) {
    if (version !== "1.0") return { status: 400, detail: "no Host header" };
    host = "";
  } else {
    host = canonicalHost(host);
    if (host === undefined) return { status: 400, detail: "bad Host header" };
  }
  // RFC 9110 10.1.1; HTTP/1.0 has no expectations.
  if (expect !== undefined && version !== "1.0" && expect.toLowerCase() !== "100-continue") {
    return { status: 417, detail: "unknown expectation" };
  }
  return {
    host,
    target: canonical,
    sentTarget: target,
    hasAmbiguousPath: strict === undefined,
    length: isChunked ? undefined : length,
    hasBody: isChunked || (length !== undefined && length > 0),
    namesConnectionHeaders,
  };
}

/** RFC 9112 3.2: origin form, or `*` for OPTIONS. Absolute form is for proxies that clients know of. */
function checkLine(method: string, target: string): string | undefined {
  if (!SERVED_METHODS.has(method)) return "unknown method";
  if (target.charCodeAt(0) !== 0x2f) {
    return target === "*" && method === "OPTIONS" ? undefined : "target is not in origin form";
  }
  for (let i = 1; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (!isTargetCode(code) || code === 0x23) return "bad byte in target";
  }
  return undefined;
}
