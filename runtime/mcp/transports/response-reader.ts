import { isUtf8 } from "node:buffer";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import { type SseEvent, SseReader } from "../../http/body/sse.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import { OPEN_BRACKET } from "../../json/json-characters.ts";
import { elementsOf } from "../../json/json-text.ts";
import { scanJson } from "../../json/scan-json.ts";
import { type Message, readMessage, readMessageBytes } from "../protocol/message.ts";

/** A piece of a target's response. */
export interface Received {
  /** `undefined` for an event without a message: a comment, a bare id. */
  readonly message: Message | undefined;
  /** `undefined` if the response is one JSON body. */
  readonly event: SseEvent | undefined;
}

/**
 * Reads the messages in a response's body, in pieces of any size. Both methods return `undefined` if the body cannot be
 * read.
 */
export interface ResponseReader {
  readonly kind: "json" | "sse";
  push(chunk: Buffer): readonly Received[] | undefined;
  end(): readonly Received[] | undefined;
}

/**
 * Returns the reader for a response with these headers; `undefined` if it is neither JSON nor an event stream. `limit`:
 * maximum number of bytes of one message. JSON bodies are collected in `buffer`.
 */
export function readResponse(
  headers: readonly string[],
  limit: number,
  buffer: CountedBuffer,
): ResponseReader | undefined {
  const encoding = headerValue(headers, "content-encoding");
  // The gateway does not offer compression.
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") return undefined;
  const type = headerValue(headers, "content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "text/event-stream") return new SseResponse(limit);
  return type === "application/json" ? new JsonResponse(limit, buffer) : undefined;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const BLANK_LINES = Buffer.from("\n\n");

class JsonResponse implements ResponseReader {
  readonly kind = "json";
  readonly #limit: number;
  readonly #held: CountedBuffer;

  constructor(limit: number, held: CountedBuffer) {
    this.#limit = limit;
    this.#held = held;
  }

  push(chunk: Buffer): readonly Received[] | undefined {
    const isShort = this.#held.length + chunk.length <= this.#limit;
    return isShort && this.#held.push(chunk) ? [] : undefined;
  }

  end(): readonly Received[] | undefined {
    // Clients' libraries ignore a byte order mark.
    const whole = this.#held.bytes();
    const bytes = whole.subarray(whole.indexOf(BYTE_ORDER_MARK) === 0 ? 3 : 0);
    this.#held.release();
    const text = bytes[0] === OPEN_BRACKET && isUtf8(bytes) ? bytes.toString("utf8") : undefined;
    const texts = text === undefined ? undefined : batchedTexts(text);
    // More than the response has to be on a stream.
    if (texts !== undefined && texts.length !== 1) return undefined;
    const message = texts === undefined ? readMessageBytes(bytes) : readMessage(texts[0] ?? "");
    return message.kind === "problem" ? undefined : [{ message, event: undefined }];
  }
}

class SseResponse implements ResponseReader {
  readonly kind = "sse";
  readonly #reader: SseReader;

  constructor(limit: number) {
    this.#reader = new SseReader(limit);
  }

  push(chunk: Buffer): readonly Received[] | undefined {
    const events = this.#reader.push(chunk);
    if (events === undefined) return undefined;
    const received: Received[] = [];
    for (const event of events) {
      if (event.data === undefined || event.data === "") {
        received.push({ message: undefined, event });
        continue;
      }
      for (const [at, text] of (batchedTexts(event.data) ?? [event.data]).entries()) {
        const message = readMessage(text);
        if (message.kind === "problem") return undefined;
        received.push({ message, event: at === 0 ? event : { ...event, id: undefined } });
      }
    }
    return received;
  }

  /**
   * Returns the last event if only its blank line is missing, as some servers end their streams. Any other unfinished event
   * is discarded (WHATWG HTML section 9.2.6).
   */
  end(): readonly Received[] {
    const received = this.push(BLANK_LINES) ?? [];
    return received.filter(({ message }) => message !== undefined);
  }
}

/** Returns the messages of a batch, which servers of 2025-03-26 may send; `undefined` for any other text. */
function batchedTexts(text: string): readonly string[] | undefined {
  if (text.charCodeAt(0) !== OPEN_BRACKET || scanJson(text, []) === undefined) return undefined;
  return elementsOf(text, 0).map(({ start, end }) => text.slice(start, end));
}
