/** A request as its bytes say it, read by a parser that lets nothing unusual pass. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Requests that are complete, what is left behind them, and what is wrong with the rest. */
export interface Parsed {
  readonly requests: readonly WireRequest[];
  readonly rest: string;
  readonly fault: string | undefined;
}

/**
 * Reads the requests of one connection (latin1): RFC 9112 without any of its leniencies, so that whatever a proxy sends
 * can't be read in two ways.
 */
export function parseRequests(bytes: string): Parsed {
  const requests: WireRequest[] = [];
  let rest = bytes;
  while (rest !== "") {
    const one = parseRequest(rest);
    if (one === "incomplete") return { requests, rest, fault: undefined };
    if (typeof one === "string") return { requests, rest, fault: one };
    requests.push(one.request);
    rest = one.rest;
  }
  return { requests, rest, fault: undefined };
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function parseRequest(
  bytes: string,
): { readonly request: WireRequest; readonly rest: string } | string {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return "incomplete";
  const [line = "", ...fields] = bytes.slice(0, end).split("\r\n");
  const [, method = "", target = ""] = /^(\S+) ([!-~\x80-\xff]+) HTTP\/1\.1$/.exec(line) ?? [];
  if (!token.test(method)) return `request line ${JSON.stringify(line)}`;
  const headers: (readonly [string, string])[] = [];
  for (const field of fields) {
    const [, name = "", value = ""] =
      /^([^:]+): ?([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/.exec(field) ?? [];
    if (!token.test(name)) return `field ${JSON.stringify(field)}`;
    headers.push([name, value]);
  }
  const values = (wanted: string) =>
    headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  if (values("host").length !== 1) return "not one Host";
  const body = parseBody(
    bytes.slice(end + 4),
    values("content-length"),
    values("transfer-encoding"),
  );
  if (typeof body === "string") return body;
  return { request: { method, target, headers, body: body.content }, rest: body.rest };
}

function parseBody(
  bytes: string,
  lengths: readonly string[],
  codings: readonly string[],
): { readonly content: string; readonly rest: string } | string {
  if (lengths.length + codings.length > 1) return "two ways to frame a body";
  const [coding] = codings;
  if (coding !== undefined) return coding === "chunked" ? parseChunks(bytes) : "transfer coding";
  const [length = "0"] = lengths;
  if (!/^(?:0|[1-9]\d*)$/.test(length)) return "length";
  if (bytes.length < Number(length)) return "incomplete";
  return { content: bytes.slice(0, Number(length)), rest: bytes.slice(Number(length)) };
}

function parseChunks(bytes: string): { readonly content: string; readonly rest: string } | string {
  let content = "";
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf("\r\n");
    if (end === -1) return "incomplete";
    const size = rest.slice(0, end);
    if (!/^[0-9a-f]+$/i.test(size)) return `chunk size ${JSON.stringify(size)}`;
    const length = Number.parseInt(size, 16);
    const chunk = rest.slice(end + 2, end + 2 + length + 2);
    if (chunk.length < length + 2) return "incomplete";
    if (!chunk.endsWith("\r\n")) return "chunk without an end";
    content += chunk.slice(0, -2);
    rest = rest.slice(end + 2 + length + 2);
    if (length === 0) return { content, rest };
  }
}
