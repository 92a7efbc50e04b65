import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import { type SseEvent, SseReader } from "../../http/body/sse.ts";
import { headerValue } from "../../http/headers/header-list.ts";
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
    const message = readMessageBytes(this.#held.bytes());
    this.#held.release();
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
      const message = readMessage(event.data);
      if (message.kind === "problem") return undefined;
      received.push({ message, event });
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
