/** One event of a `text/event-stream` body (WHATWG HTML section 9.2). */
export interface SseEvent {
  /** The bytes as received, blank line included, to forward unchanged events. */
  readonly raw: Buffer;
  /** The `event` field; empty if absent. */
  readonly name: string;
  /** The `data` lines joined by line feeds; `undefined` without any (a comment, or only an id). */
  readonly data: string | undefined;
  /** The `id` field; `undefined` if absent. */
  readonly id: string | undefined;
  /** The `retry` field as received. */
  readonly retry: string | undefined;
}

/** Reads the events of a stream. */
export class SseReader {
  readonly #frames: SseFrames;

  /** `limit`: maximum bytes of one event. */
  constructor(limit: number) {
    this.#frames = new SseFrames(limit);
  }

  /** Returns the events that `chunk` completes; `undefined` once an event exceeds the limit. */
  push(chunk: Buffer): SseEvent[] | undefined {
    return this.#frames.push(chunk)?.map(parseEvent);
  }
}

/** Splits a stream into the bytes of its events. Each byte is examined a bounded number of times, whatever pieces it arrives in. */
export class SseFrames {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #held = 0;
  /** Whether the current line is still empty, and whether the previous one ended in CR. */
  #isLineEmpty = true;
  #afterCr = false;
  /** Whether lines of the stream end in CR LF, and whether the CR of a blank line has arrived, which its LF completes. */
  #hasCrLf = false;
  #isDue = false;

  /** `limit`: maximum bytes of one event. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the events that `chunk` completes, each with its blank line; `undefined` once one exceeds the limit. */
  push(chunk: Buffer): Buffer[] | undefined {
    const events: Buffer[] = [];
    const rest = this.#takePlain(chunk, events);
    if (rest.length > 0) this.#takeAny(rest, events);
    return this.#held <= this.#limit ? events : undefined;
  }

  /**
   * Adds the events that a piece completes as long as all lines end with line feeds, as most servers write them. Returns the
   * bytes that were not read.
   */
  #takePlain(chunk: Buffer, events: Buffer[]): Buffer {
    const mayEndEvent = this.#isLineEmpty && this.#held > 0;
    if (mayEndEvent || this.#afterCr || chunk.includes(CARRIAGE_RETURN)) return chunk;
    let from = 0;
    let at = this.#isLineEmpty && chunk[0] === LINE_FEED ? -1 : chunk.indexOf(LINE_FEED);
    while (at !== -1) {
      if (chunk[at + 1] !== LINE_FEED) {
        at = chunk.indexOf(LINE_FEED, at + 1);
        continue;
      }
      const isAll = from === 0 && at + 2 === chunk.length;
      events.push(this.#complete(isAll ? chunk : chunk.subarray(from, at + 2)));
      this.#isLineEmpty = true;
      if (isAll) return NO_BYTES;
      from = at + 2;
      // An event that begins with its blank line is empty, which the other way of reading finds.
      if (chunk[from] === LINE_FEED) break;
      at = chunk.indexOf(LINE_FEED, from);
    }
    return chunk.subarray(from);
  }

  #takeAny(chunk: Buffer, events: Buffer[]): void {
    let from = 0;
    let isLineEmpty = this.#isLineEmpty;
    let afterCr = this.#afterCr;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (afterCr) {
        const end = byte === LINE_FEED ? i + 1 : i;
        if (this.#isDue) {
          events.push(this.#complete(chunk.subarray(from, end)));
          from = end;
          this.#isDue = false;
        }
        if (byte === LINE_FEED) {
          afterCr = false;
          this.#hasCrLf = true;
          continue;
        }
      }
      afterCr = byte === CARRIAGE_RETURN;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        isLineEmpty = false;
        continue;
      }
      // Clients that search for CR LF CR LF need the last LF with its event, also at the end of the stream.
      if (isLineEmpty && afterCr && (this.#hasCrLf || i + 1 < chunk.length)) this.#isDue = true;
      else if (isLineEmpty) {
        events.push(this.#complete(chunk.subarray(from, i + 1)));
        from = i + 1;
      }
      isLineEmpty = true;
    }
    this.#isLineEmpty = isLineEmpty;
    this.#afterCr = afterCr;
    this.#keep(chunk.subarray(from));
  }

  #complete(last: Buffer): Buffer {
    const raw = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#held = 0;
    return raw;
  }

  #keep(rest: Buffer): void {
    if (rest.length > 0) this.#pieces.push(rest);
    this.#held += rest.length;
  }
}

/** Formats an event with one JSON-RPC message. `fields` precede the data: `id: 7\n`. */
export function sseMessage(text: string, fields = ""): string {
  const data =
    text.includes("\n") || text.includes("\r") ? text.replace(ANY_LINE_END, "\ndata: ") : text;
  return `${fields}event: message\ndata: ${data}\n\n`;
}

const LINE_FEED = 0x0a;
const NO_BYTES = Buffer.alloc(0);
const CARRIAGE_RETURN = 0x0d;
const ANY_LINE_END = /\r\n|\n|\r/g;

function parseEvent(raw: Buffer): SseEvent {
  const text = raw.toString("utf8");
  return plainEvent(raw, text) ?? anyEvent(raw, text);
}

/** Parses an event with one line of data, after its name if it has one, as nearly all are. Returns `undefined` for others. */
function plainEvent(raw: Buffer, text: string): SseEvent | undefined {
  const dataStart = text.startsWith("event: ") ? text.indexOf("\n") + 1 : 0;
  if (!text.startsWith("data: ", dataStart) || text.includes("\r")) return undefined;
  if (text.indexOf("\n", dataStart) !== text.length - 2) return undefined;
  const name = dataStart === 0 ? "" : text.slice(7, dataStart - 1);
  return { raw, name, data: text.slice(dataStart + 6, -2), id: undefined, retry: undefined };
}

function anyEvent(raw: Buffer, text: string): SseEvent {
  let name = "";
  let data: string | undefined;
  let id: string | undefined;
  let retry: string | undefined;
  for (const line of text.replace(/^\uFEFF/, "").split(ANY_LINE_END)) {
    const colon = line.indexOf(":");
    if (line === "" || colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value =
      colon === -1 ? "" : line.slice(line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1);
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (field === "event") name = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry") retry = value;
  }
  return { raw, name, data, id, retry };
}

/** Whether a Content-Type is `text/event-stream`. */
export function isSseType(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith("text/event-stream") === true;
}
