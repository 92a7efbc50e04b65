import type { HeaderList } from "../headers/header-list.ts";
import { isBlank, isFieldValue, isToken } from "../http1/fields.ts";
import { lengthOf } from "../http1/received-fields.ts";
import { canonicalHost, isTargetCode, SERVED_METHODS } from "../request-line.ts";
import { canonicalTarget } from "../routing/path.ts";

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

/** A target in absolute form, taken apart (RFC 9112 3.2.2). */
export interface AbsoluteForm {
  /** Host and port as written, lower case. */
  readonly authority: string;
  /** The target in origin form. */
  readonly target: string;
}

/**
 * Reads what clients send to a proxy that they know of: `http://host/path`. Undefined: it is something else, or `https`,
 * which asks for a tunnel.
 */
export function readAbsoluteForm(target: string): AbsoluteForm | undefined {
  const parts = /^http:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i.exec(target);
  if (parts === null) return undefined;
  const [, authority = "", rest = ""] = parts;
  return { authority: authority.toLowerCase(), target: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * The facts of a request in absolute form. Its target names the host, and Host has to name the same one: who goes by the
 * other one of the two must not get another response.
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

/** The facts of CONNECT: its target names host and port (RFC 9112 3.2.3), and Host, where there is one, the same host. */
export function authorityFacts(
  facts: RequestFacts | RequestFault,
  target: string,
): RequestFacts | RequestFault {
  if (!("host" in facts)) return facts;
  const named = /:[0-9]{1,5}$/.test(target) ? canonicalHost(target.toLowerCase()) : undefined;
  if (named === undefined) return { status: 400, detail: "a tunnel needs a host and a port" };
  const { host } = facts;
  const isSame = host === "" || host === named || host === named.replace(/:[0-9]+$/, "");
  return isSame ? { ...facts, host: named } : twoHosts;
}

/** The port of `http` is the same as none (RFC 3986 6.2.3). */
function withoutPort(authority: string): string {
  return authority.replace(/:(?:80)?$/, "");
}

/** What the fields of a request say of its host, its body and its connection. */
export interface FramingFields {
  /** How many there are. */
  readonly count: number;
  /** The value of Host; undefined without one. */
  readonly host: string | undefined;
  readonly hasTwoHosts: boolean;
  /** Bytes of the body; undefined: it says no number. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** A transfer coding is named that is not chunked, or one twice. Absent: who read them has refused that. */
  readonly hasOtherCoding?: boolean;
  /** Connection says more than `keep-alive` or `close`: fields that it names end here. */
  readonly namesConnectionHeaders: boolean;
  /** The value of Expect; undefined without one. */
  readonly expect: string | undefined;
  /** Why one of them can't be a field. Absent: who read them has refused that. */
  readonly fault?: string | undefined;
}

/** Reads the same from a list, which no parser of HTTP/1.1 has looked at. */
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
        if (length === undefined || lengths > 1) fault ??= "no valid Content-Length";
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

/** RFC 9113 8.2.1: blanks around a value are no part of HTTP/2's syntax, so they would be part of the value. */
function fieldFault(name: string, value: string): string | undefined {
  if (!isToken(name)) return "a field without a valid name";
  if (!isFieldValue(value)) return "a character that no field has";
  const isPadded = isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1));
  return isPadded ? "a blank around a value" : undefined;
}
