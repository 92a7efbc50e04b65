import type { HeaderList } from "../headers/header-list.ts";
import { isBlank, isFieldValue, isToken } from "../http1/fields.ts";
import { lengthOf } from "../http1/received-fields.ts";
import { canonicalHost, isTargetCode, SERVED_METHODS } from "../request-line.ts";
import { canonicalTarget } from "../routing/path.ts";

/** Facts about the head of a request, read in one pass before any route sees it. */
export interface RequestFacts {
  /** Host header in lower case, without a final dot; empty if absent (HTTP/1.0). */
  readonly host: string;
  /** Target in origin form with a canonical path (`canonicalPath`). */
  readonly target: string;
  /** Target in origin form as received. */
  readonly sentTarget: string;
  /** Whether servers may read the path differently; only accepted where paths are forwarded as received. */
  readonly hasAmbiguousPath: boolean;
  /** Announced bytes of the body; `undefined` if it is chunked or absent. */
  readonly length: number | undefined;
  readonly hasBody: boolean;
  /** Whether Connection names fields beyond `keep-alive` and `close`: those are dropped before any policy adds headers. */
  readonly namesConnectionHeaders: boolean;
}

/** Why a request is refused: the status, and a detail for the log. */
export interface RequestFault {
  readonly status: 400 | 417 | 431;
  readonly detail: string;
}

/** Limits of a port. */
export interface RequestLimits {
  /** Maximum number of header fields. */
  readonly maxHeaders: number;
  /** Whether a listener of the port forwards paths as received, with encoded slashes. */
  readonly keepsPaths: boolean;
}

/**
 * Reads the facts, or returns why the request is malformed. Requests of every protocol are checked here, whatever their parser
 * has checked: no protocol accepts a method, target, host or field that another one refuses. `version` is `1.1`, `1.0` or `2`.
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

/** Checks method and target. RFC 9112 3.2: origin form, or `*` for OPTIONS. Absolute form is for forward proxies. */
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

/** A parsed target in absolute form (RFC 9112 3.2.2). */
export interface AbsoluteForm {
  /** Host and port as received, in lower case. */
  readonly authority: string;
  /** Target in origin form. */
  readonly target: string;
}

/**
 * Parses a target that clients send to a forward proxy: `http://host/path`. Returns `undefined` for others, `https` included,
 * which requires a tunnel.
 */
export function readAbsoluteForm(target: string): AbsoluteForm | undefined {
  const parts = /^http:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i.exec(target);
  if (parts === null) return undefined;
  const [, authority = "", rest = ""] = parts;
  return { authority: authority.toLowerCase(), target: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * Returns the facts of a request in absolute form. Its target names the host, and Host must name the same one, because servers
 * may use either.
 */
export function absoluteFacts(
  facts: RequestFacts | RequestFault,
  { authority }: AbsoluteForm,
): RequestFacts | RequestFault {
  if (!("host" in facts)) return facts;
  const named = canonicalHost(authority);
  if (named === undefined) return { status: 400, detail: "bad host in target" };
  const host = facts.host === "" ? named : facts.host;
  return withoutPort(host) === withoutPort(named) ? { ...facts, host } : twoHosts;
}

const twoHosts: RequestFault = { status: 400, detail: "target and Host name different hosts" };

/** Returns the facts of CONNECT: its target names host and port (RFC 9112 3.2.3), and Host, if present, the same host. */
export function authorityFacts(
  facts: RequestFacts | RequestFault,
  target: string,
): RequestFacts | RequestFault {
  if (!("host" in facts)) return facts;
  const named = /:[0-9]{1,5}$/.test(target) ? canonicalHost(target.toLowerCase()) : undefined;
  if (named === undefined) return { status: 400, detail: "a tunnel requires a host and a port" };
  const { host } = facts;
  const isSame = host === "" || host === named || host === named.replace(/:[0-9]+$/, "");
  return isSame ? { ...facts, host: named } : twoHosts;
}

/** Removes the default port of `http` (RFC 3986 6.2.3). */
function withoutPort(authority: string): string {
  return authority.replace(/:(?:80)?$/, "");
}

/** Fields of a request about its host, body and connection. */
export interface FramingFields {
  /** Number of fields. */
  readonly count: number;
  /** Value of Host; `undefined` if absent. */
  readonly host: string | undefined;
  readonly hasTwoHosts: boolean;
  /** Bytes of the body; `undefined` without a valid Content-Length. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** Whether there is a transfer coding other than chunked, or chunked twice. Absent if the parser refuses that. */
  readonly hasOtherCoding?: boolean;
  /** Whether Connection names fields beyond `keep-alive` and `close`: those are dropped. */
  readonly namesConnectionHeaders: boolean;
  /** Value of Expect; `undefined` if absent. */
  readonly expect: string | undefined;
  /** Why a field is invalid. Absent if the parser refuses that. */
  readonly fault?: string | undefined;
}

/** Reads these fields from a list that no HTTP/1.1 parser has checked. */
export function framingFields(list: HeaderList): FramingFields {
  let host: string | undefined;
  let [length, lengths]: [number | undefined, number] = [undefined, 0];
  let expect: string | undefined;
  let fault: string | undefined;
  let [hasTwoHosts, isChunked, hasOtherCoding, namesConnectionHeaders] = [
    false,
    false,
    false,
    false,
  ];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    const value = list[i + 1] ?? "";
    fault ??= fieldFault(name, value);
    switch (name.toLowerCase()) {
      case "host":
        hasTwoHosts ||= host !== undefined;
        host = value;
        break;
      case "connection":
        namesConnectionHeaders ||= !/^\s*(?:keep-alive|close)\s*$/i.test(value);
        break;
      case "content-length":
        length = lengthOf(value);
        lengths += 1;
        if (length === undefined || lengths > 1) fault ??= "malformed Content-Length";
        break;
      case "expect":
        expect = expect === undefined ? value : `${expect}, ${value}`;
        break;
      case "transfer-encoding":
        hasOtherCoding ||= isChunked || value.toLowerCase() !== "chunked";
        isChunked = true;
        break;
    }
  }
  const count = list.length / 2;
  return {
    count,
    host,
    hasTwoHosts,
    length,
    isChunked,
    hasOtherCoding,
    namesConnectionHeaders,
    expect,
    fault,
  };
}

/**
 * Returns why a field is invalid. RFC 9113 8.2.1: HTTP/2's syntax has no blanks around a value, so they would be part of it.
 */
function fieldFault(name: string, value: string): string | undefined {
  if (!isToken(name)) return "a field with a malformed name";
  if (!isFieldValue(value)) return "a field with an invalid character";
  const isPadded = isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1));
  return isPadded ? "a value with a blank around it" : undefined;
}
