import { isHeader, joinedLines, type RepeatRecord } from "../headers/header-list.ts";
import { HOP_BY_HOP } from "../headers/hop-by-hop.ts";
import { type Http1Lines, isBlank, isTokenCode, isValueCode } from "./fields.ts";

/** Names of fields (lower case) that are found by the bytes of a received name, without lowering its case. */
class KnownNames {
  /** By length and first letter. */
  readonly #names: readonly (readonly KnownName[] | undefined)[];
  readonly #longest: number;

  constructor(names: readonly string[]) {
    this.#longest = Math.max(...names.map((name) => name.length));
    const table: KnownName[][] = [];
    for (const name of names) {
      const place = placeOf(name.length, name.charCodeAt(0));
      table[place] = [...(table[place] ?? []), { name, bytes: Buffer.from(name) }];
    }
    this.#names = Array.from(table);
  }

  /** Returns the known name at this position, in any case; `undefined` for other names. `end`: end of the name. */
  at(bytes: Uint8Array, start: number, end: number): string | undefined {
    const length = end - start;
    if (length > this.#longest) return undefined;
    const names = this.#names[placeOf(length, bytes[start] ?? 0)];
    if (names === undefined) return undefined;
    for (let i = 0; i < names.length; i++) {
      const known = names[i];
      if (known !== undefined && isThere(known.bytes, bytes, start)) return known.name;
    }
    return undefined;
  }
}

interface KnownName {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Computes a table index. Both cases of a letter share it; so do some other characters, which the comparison of bytes tells
 * apart.
 */
function placeOf(length: number, first: number): number {
  return length * 32 + (first & 31);
}

/** Compares a name of letters and hyphens: letters in any case, hyphens exactly. */
function isThere(name: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) {
    const wanted = name[i] ?? 0;
    const byte = bytes[start + i] ?? 0;
    if (byte !== wanted && (wanted === 0x2d || (byte | 0x20) !== wanted)) return false;
  }
  return true;
}

/**
 * The fields of a head as received, with their meaning for the message (RFC 9112 6, 9), read in one pass over the bytes. Most
 * fields are forwarded as lines; a list is created on demand.
 */
export class ReceivedFields {
  readonly #text: string;
  readonly #from: number;
  /** Whether bytes after the head arrived with it. */
  readonly isFollowed: boolean;
  /** The forwarded lines up to `#keptTo`. */
  #kept = "";
  #keptTo: number;
  #arePlain = true;
  #list: string[] | undefined;
  /** Number of fields. */
  count = 0;
  /** Bytes of the body; `undefined` without Content-Length. */
  length: number | undefined;
  isChunked = false;
  /** Options of Connection, in lower case, as one list; empty if absent. */
  connection = "";
  /** Whether Connection names fields beyond `keep-alive` and `close`: those are dropped. */
  namesConnectionHeaders = false;
  /** Value of Expect; `undefined` if absent. */
  expect: string | undefined;
  /** Values of TE as one list; empty if absent. */
  te = "";
  /** Values of Keep-Alive as one list; empty if absent. */
  keepAlive = "";
  /** Value of the last Host; `undefined` if absent. */
  host: string | undefined;
  hasTwoHosts = false;
  hasDate = false;
  /** Whether there is a field of W3C Trace Context. */
  hasTraceContext = false;
  /** First Content-Type; `undefined` if absent. */
  contentType: string | undefined;
  /** Values of Content-Encoding as one list; `undefined` if absent. */
  contentCoding: string | undefined;
  #hasTwoCodings = false;

  /** Use `readReceivedFields`. The fields start at `from` in the string. */
  constructor(text: string, from: number, isFollowed: boolean) {
    this.#text = text;
    this.#from = from;
    this.isFollowed = isFollowed;
    this.#keptTo = from;
  }

  /** All fields as a flat list. */
  get list(): string[] {
    this.#list ??= listOf(this.#text, this.#from);
    return this.#list;
  }

  /**
   * Returns the value of a field by lower-case name, with several lines joined; `undefined` if it is absent. A field with
   * several lines is recorded.
   */
  value(name: string, record?: RepeatRecord): string | undefined {
    // Every reader of a body needs it.
    if (name === "content-encoding" && !this.#hasTwoCodings) return this.contentCoding;
    const text = this.#text;
    let value: string | undefined;
    for (let at = this.#from; at < text.length; ) {
      const lineEnd = text.indexOf("\r\n", at);
      const colon = at + name.length;
      if (text.charCodeAt(colon) === 0x3a && isHeader(text.slice(at, colon), name)) {
        const next = valueIn(text, colon, lineEnd);
        if (value === undefined) value = next;
        else {
          value = joinedLines(name, value, next);
          if (record !== undefined) record.hasReadRepeated = true;
        }
      }
      at = lineEnd + 2;
    }
    return value;
  }

  /**
   * The lines for the next connection without Host, each as `name: value` with its line break; `undefined` if they must be
   * changed.
   */
  get lines(): string | undefined {
    if (!this.#arePlain || this.namesConnectionHeaders) return undefined;
    return this.#kept + this.#text.slice(this.#keptTo);
  }

  /** Whether the connection stays open for another message. `isOld`: this message is HTTP/1.0. */
  keepsConnection(isOld: boolean): boolean {
    const { connection } = this;
    if (connection === "" || connection === "keep-alive") return !isOld || connection !== "";
    // RFC 9112 9.3: `close` decides, whatever else is listed.
    return !CLOSE_TOKEN.test(connection) && (!isOld || KEEP_ALIVE_TOKEN.test(connection));
  }

  /** Counts a field. `isPlain`: it has the form `name: value`. */
  found(isPlain: boolean): void {
    this.count += 1;
    if (!isPlain) this.#arePlain = false;
  }

  /** Handles a known field, by its indexes in the string. Returns what is wrong with it. */
  take(name: string, at: number, colon: number, lineEnd: number): string | undefined {
    switch (name) {
      case "host":
        this.hasTwoHosts ||= this.host !== undefined;
        this.host = this.#value(colon, lineEnd);
        break;
      case "date":
        this.hasDate = true;
        return undefined;
      case "content-type":
        this.contentType ??= this.#value(colon, lineEnd);
        return undefined;
      case "content-encoding": {
        const coding = this.#value(colon, lineEnd);
        const { contentCoding } = this;
        this.#hasTwoCodings = contentCoding !== undefined;
        this.contentCoding = contentCoding === undefined ? coding : `${contentCoding}, ${coding}`;
        return undefined;
      }
      case "traceparent":
      case "tracestate":
        this.hasTraceContext = true;
        return undefined;
    }
    if (at > this.#keptTo) this.#kept += this.#text.slice(this.#keptTo, at);
    this.#keptTo = lineEnd + 2;
    return this.#takeOwn(name, colon, lineEnd);
  }

  /**
   * Handles a field that frames the message. Readers could disagree about the message's end, so nothing is tolerated (RFC 9112
   * 11.2).
   */
  #takeOwn(name: string, colon: number, lineEnd: number): string | undefined {
    const value = this.#value(colon, lineEnd);
    switch (name) {
      case "te":
        this.te += `,${value}`;
        break;
      case "expect":
        this.expect = this.expect === undefined ? value : `${this.expect}, ${value}`;
        break;
      case "connection":
        this.#takeConnection(value === "keep-alive" ? value : value.toLowerCase());
        break;
      case "keep-alive":
        this.keepAlive += `,${value}`;
        break;
      case "content-length":
        if (this.length !== undefined) return "malformed Content-Length";
        this.length = lengthOf(value);
        if (this.length === undefined) return "malformed Content-Length";
        break;
      case "transfer-encoding":
        // llhttp takes a tab for a part of the word.
        if (this.isChunked || value.toLowerCase() !== "chunked" || this.#hasTab(colon, lineEnd)) {
          return "a transfer coding other than chunked";
        }
        this.isChunked = true;
        break;
    }
    return undefined;
  }

  #takeConnection(options: string): void {
    this.connection = this.connection === "" ? options : `${this.connection},${options}`;
    if (options !== "keep-alive" && options !== "close") this.namesConnectionHeaders = true;
  }

  #value(colon: number, lineEnd: number): string {
    return valueIn(this.#text, colon, lineEnd);
  }

  #hasTab(colon: number, lineEnd: number): boolean {
    return this.#text.slice(colon, lineEnd).includes("\t");
  }
}

/** Reads fields, one per line, from an index of the string on. Returns a string that says what is wrong. */
export function readReceivedFields(
  { text, bytes, start }: Http1Lines,
  from: number,
): ReceivedFields | string {
  const end = start + text.length;
  // The empty line is in between.
  const fields = new ReceivedFields(text, from, bytes.length > end + 2);
  for (let at = start + from; at < end; ) {
    let colon = at;
    while (isTokenCode[bytes[colon] ?? 0] === 1) colon++;
    if (colon === at || bytes[colon] !== 0x3a) return "a field with a malformed name";
    let lineEnd = colon + 1;
    while (isValueCode[bytes[lineEnd] ?? 0] === 1) lineEnd++;
    if (bytes[lineEnd] !== 13 || bytes[lineEnd + 1] !== 10)
      return "a field with an invalid character";
    const value = colon + 2;
    const isPlain = bytes[colon + 1] === 0x20 && value < lineEnd && !isBlank(bytes[value]);
    fields.found(isPlain && !isBlank(bytes[lineEnd - 1]));
    const name = ownNames.at(bytes, at, colon);
    if (name !== undefined) {
      const problem = fields.take(name, at - start, colon - start, lineEnd - start);
      if (problem !== undefined) return problem;
    }
    at = lineEnd + 2;
  }
  if (fields.isChunked && fields.length !== undefined) {
    return "Content-Length with Transfer-Encoding";
  }
  return fields;
}

/** Splits lines whose form was checked. */
function listOf(text: string, from: number): string[] {
  const list: string[] = [];
  for (let at = from; at < text.length; ) {
    const colon = text.indexOf(":", at);
    const lineEnd = text.indexOf("\r\n", colon);
    list.push(text.slice(at, colon), valueIn(text, colon, lineEnd));
    at = lineEnd + 2;
  }
  return list;
}

/** Returns a value without blanks around it (RFC 9110 5.5). */
function valueIn(text: string, colon: number, lineEnd: number): string {
  let from = colon + 1;
  while (from < lineEnd && isBlank(text.charCodeAt(from))) from++;
  let end = lineEnd;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(from, end);
}

/** Parses a Content-Length (RFC 9110 8.6); `undefined` if it is not a safe integer. */
export function lengthOf(value: string): number | undefined {
  if (value === "" || value.length > 16) return undefined;
  let number = 0;
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number <= Number.MAX_SAFE_INTEGER ? number : undefined;
}

/** Names that `take` handles. */
const ownNames = new KnownNames([
  ...HOP_BY_HOP,
  ...["host", "date", "content-type", "content-encoding", "traceparent", "tracestate"],
]);

const CLOSE_TOKEN = /(?:^|,)\s*close\s*(?:,|$)/;
const KEEP_ALIVE_TOKEN = /(?:^|,)\s*keep-alive\s*(?:,|$)/;
