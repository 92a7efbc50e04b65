import { messageParts } from "./strict-parser.ts";

/** A response as its bytes say it. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** False when the connection ended, or went on, before the body did. */
  readonly isWhole: boolean;
}

/** How a response is to be read. */
export interface ResponseReading {
  readonly method: string;
  /** The sender has ended the connection. */
  readonly isClosed: boolean;
  /** Forgives what RFC 9112 lets a client forgive. */
  readonly isTolerant: boolean;
}

const strictLine = /^HTTP\/1\.1 ([1-5]\d\d)(?: [\t -~\x80-\xff]*)?$/;

/** The reason goes no further, whatever it is made of. */
const tolerantLine = /^HTTP\/1\.[01] ([1-5]\d\d)(?: .*)?$/s;

/** Reads the final response; `undefined` if there is no final response. */
export function readResponse(sent: string, reading: ResponseReading): ReadResponse | undefined {
  const bytes = reading.isTolerant ? sent.replace(/^[\r\n]+/, "") : sent;
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [line = "", ...lines] = bytes.slice(0, end).split("\r\n");
  const head = (reading.isTolerant ? tolerantLine : strictLine).exec(line);
  const headers = messageParts.fields(lines, reading.isTolerant);
  if (head === null || typeof headers === "string") return undefined;
  const status = Number(head[1]);
  const rest = bytes.slice(end + 4);
  if (status === 101) return undefined;
  if (status < 200) return readResponse(rest, reading);
  const isBodiless = reading.method === "HEAD" || status === 204 || status === 304;
  if (isBodiless) return { status, headers, body: "", isWhole: true };
  return { status, headers, ...bodyOf(rest, headers, reading) };
}

function bodyOf(
  rest: string,
  headers: ReadResponse["headers"],
  { isClosed, isTolerant }: ResponseReading,
): { readonly body: string; readonly isWhole: boolean } {
  const values = (wanted: string) =>
    headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
  const [lengths, codings] = [values("content-length"), values("transfer-encoding")];
  if (lengths.length + codings.length === 0) return { body: rest, isWhole: isClosed };
  const body = messageParts.body(rest, lengths, codings, isTolerant);
  return typeof body === "string"
    ? { body: rest, isWhole: false }
    : { body: body.content, isWhole: true };
}
