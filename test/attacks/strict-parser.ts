/** A request as its bytes say it. */
export interface EngineRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Requests that are complete, what is left behind them, and what is wrong with the rest. */
export interface Parsed {
  readonly requests: readonly EngineRequest[];
  readonly rest: string;
  readonly fault: string | undefined;
}

/** The parts of a message that requests and responses share. */
export const messageParts = {
  fields: (lines: readonly string[], isTolerant: boolean) =>
    parseFields(lines, isTolerant ? tolerant : strict),
  /** `"incomplete"`, a fault, or the content. */
  body: (
    bytes: string,
    lengths: readonly string[],
    codings: readonly string[],
    isTolerant: boolean,
  ) => parseBody(bytes, lengths, codings, isTolerant ? tolerant : strict),
};

/** How much of what RFC 9112 lets a server forgive is forgiven. */
interface Reading {
  readonly line: RegExp;
  readonly field: RegExp;
  readonly length: RegExp;
  readonly coding: RegExp;
  readonly chunkSize: RegExp;
  readonly isTolerant: boolean;
}

const strict: Reading = {
  line: /^(\S+) ([!-~\x80-\xff]+) HTTP\/1\.1$/,
  field: /^([^:]+): ?([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/,
  length: /^(?:0|[1-9]\d*)$/,
  coding: /^chunked$/,
  chunkSize: /^([0-9a-f]+)$/i,
  isTolerant: false,
};

const tolerant: Reading = {
  line: /^(\S+) +([!-~\x80-\xff]+) +HTTP\/1\.[01]$/,
  field: /^([^:]+):[\t ]*([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?[\t ]*$/,
  length: /^\d+$/,
  coding: /^chunked$/i,
  chunkSize: /^([0-9a-f]+)(?:[\t ]*;[\t -~\x80-\xff]*)?$/i,
  isTolerant: true,
};

/**
 * Reads the requests of one connection (latin1) without any leniency, so that whatever a proxy sends can't be read in
 * two ways.
 */
export function parseRequests(bytes: string): Parsed {
  return parse(bytes, strict);
}

/** Reads what a client may send, as RFC 9112 allows a server to, up to the request that ends the connection. */
export function readRequests(bytes: string): Parsed {
  return parse(bytes, tolerant);
}

function parse(bytes: string, reading: Reading): Parsed {
  const requests: EngineRequest[] = [];
  let rest = bytes;
  while (rest !== "") {
    if (reading.isTolerant) rest = rest.replace(/^[\r\n]+/, "");
    const one = parseRequest(rest, reading);
    if (one === "incomplete") return { requests, rest, fault: undefined };
    if (typeof one === "string") return { requests, rest, fault: one };
    requests.push(one.request);
    rest = one.rest;
    if (reading.isTolerant && one.isLast) return { requests, rest: "", fault: undefined };
  }
  return { requests, rest, fault: undefined };
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function parseRequest(
  bytes: string,
  reading: Reading,
): { readonly request: EngineRequest; readonly rest: string; readonly isLast: boolean } | string {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return "incomplete";
  const [line = "", ...fields] = bytes.slice(0, end).split("\r\n");
  const [, method = "", target = ""] = reading.line.exec(line) ?? [];
  if (!token.test(method)) return `request line ${JSON.stringify(line)}`;
  const headers = parseFields(fields, reading);
  if (typeof headers === "string") return headers;
  const values = (wanted: string) =>
    headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  if (values("host").length !== 1) return "not one Host";
  const body = parseBody(
    bytes.slice(end + 4),
    values("content-length"),
    values("transfer-encoding"),
    reading,
  );
  if (typeof body === "string") return body;
  const options = values("connection").join().toLowerCase();
  return {
    request: { method, target, headers, body: body.content },
    rest: body.rest,
    isLast: /\bclose\b/.test(options) || (line.endsWith("1.0") && !/keep-alive/.test(options)),
  };
}

function parseFields(
  lines: readonly string[],
  { field }: Reading,
): EngineRequest["headers"] | string {
  const headers: (readonly [string, string])[] = [];
  for (const line of lines) {
    const [, name = "", value = ""] = field.exec(line) ?? [];
    if (!token.test(name)) return `field ${JSON.stringify(line)}`;
    headers.push([name, value]);
  }
  return headers;
}

function parseBody(
  bytes: string,
  lengths: readonly string[],
  codings: readonly string[],
  reading: Reading,
): { readonly content: string; readonly rest: string } | string {
  if (lengths.length + codings.length > 1) return "two ways to frame a body";
  const [coding] = codings;
  if (coding !== undefined) {
    return reading.coding.test(coding) ? parseChunks(bytes, reading) : "transfer coding";
  }
  const [length = "0"] = lengths;
  if (!reading.length.test(length)) return "length";
  if (bytes.length < Number(length)) return "incomplete";
  return { content: bytes.slice(0, Number(length)), rest: bytes.slice(Number(length)) };
}

function parseChunks(
  bytes: string,
  reading: Reading,
): { readonly content: string; readonly rest: string } | string {
  let content = "";
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf("\r\n");
    if (end === -1) return "incomplete";
    const [, size] = reading.chunkSize.exec(rest.slice(0, end)) ?? [];
    if (size === undefined) return `chunk size ${JSON.stringify(rest.slice(0, end))}`;
    const length = Number.parseInt(size, 16);
    rest = rest.slice(end + 2);
    if (length === 0) return parseTrailers(content, rest, reading);
    if (rest.length < length + 2) return "incomplete";
    if (rest.slice(length, length + 2) !== "\r\n") return "chunk without an end";
    content += rest.slice(0, length);
    rest = rest.slice(length + 2);
  }
}

/** Bytes on which some servers would act if they followed a body. */
const headOnly =
  /^(?:host|connection|content-length|content-type|transfer-encoding|te|trailer|authorization|cookie|x[-_]forwarded[-_].*)$/i;

function parseTrailers(
  content: string,
  bytes: string,
  reading: Reading,
): { readonly content: string; readonly rest: string } | string {
  if (bytes.startsWith("\r\n")) return { content, rest: bytes.slice(2) };
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return "incomplete";
  const fields = parseFields(bytes.slice(0, end).split("\r\n"), reading);
  if (typeof fields === "string") return fields;
  const wrong = reading.isTolerant ? undefined : fields.find(([name]) => headOnly.test(name));
  if (wrong !== undefined) return `trailer ${wrong[0]}`;
  return { content, rest: bytes.slice(end + 4) };
}
