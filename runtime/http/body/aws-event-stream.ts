import { crc32 } from "node:zlib";

/** One message of an `application/vnd.amazon.eventstream` body. */
export interface AwsEvent {
  /** Those that are texts, by name: `:message-type`, `:event-type`, `:exception-type`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
}

/** Cuts such a stream into messages, whatever the pieces it arrives in (Smithy, Amazon Event Stream). */
export class AwsEventReader {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #held = 0;
  #fault: "corrupt" | "too-long" | undefined;

  /** `limit`: the most bytes of one message. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Why nothing can be read any more: a checksum or a length is wrong, or a message is over the limit. */
  get fault(): "corrupt" | "too-long" | undefined {
    return this.#fault;
  }

  /** The messages that `chunk` completes; those before a fault among them. */
  push(chunk: Buffer): readonly AwsEvent[] {
    const events: AwsEvent[] = [];
    if (this.#fault !== undefined) return events;
    this.#pieces.push(chunk);
    this.#held += chunk.length;
    for (;;) {
      const length = this.#nextLength();
      if (length === undefined || this.#held < length) return events;
      const event = readMessage(this.#take(length));
      if (event === undefined) {
        this.#fault = "corrupt";
        return events;
      }
      events.push(event);
    }
  }

  /** Of the message that begins what is held, its checksums included; undefined: not known yet, or a fault. */
  #nextLength(): number | undefined {
    if (this.#held < PRELUDE_LENGTH) return undefined;
    const [first] = this.#pieces;
    if (first !== undefined && first.length < PRELUDE_LENGTH) this.#join();
    const [prelude] = this.#pieces;
    if (prelude === undefined) return undefined;
    const length = prelude.readUInt32BE(0);
    const headers = prelude.readUInt32BE(4);
    if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8)) this.#fault = "corrupt";
    else if (length < PRELUDE_LENGTH + 4 + headers) this.#fault = "corrupt";
    else if (length > this.#limit) this.#fault = "too-long";
    return this.#fault === undefined ? length : undefined;
  }

  #take(length: number): Buffer {
    const whole = this.#join();
    this.#pieces = length === whole.length ? [] : [whole.subarray(length)];
    this.#held -= length;
    return whole.subarray(0, length);
  }

  #join(): Buffer {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }
}

/** Two lengths and their checksum. */
const PRELUDE_LENGTH = 12;

/** Undefined: it is not as it was sent. */
function readMessage(message: Buffer): AwsEvent | undefined {
  const end = message.length - 4;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) return undefined;
  const headersEnd = PRELUDE_LENGTH + message.readUInt32BE(4);
  const headers = readHeaders(message.subarray(PRELUDE_LENGTH, headersEnd));
  return headers && { headers, payload: message.subarray(headersEnd, end) };
}

/** Undefined: they are not headers, though the checksum is right. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const type = bytes[nameEnd] ?? -1;
    const name = bytes.toString("utf8", at + 1, nameEnd);
    at = nameEnd + 1;
    const isSized = type === SIZED_BYTES || type === SIZED_TEXT;
    if (isSized && at + 2 > bytes.length) return undefined;
    const size = isSized ? bytes.readUInt16BE(at) : fixedSizes[type];
    if (size === undefined) return undefined;
    if (isSized) at += 2;
    if (at + size > bytes.length) return undefined;
    if (type === SIZED_TEXT) headers.set(name, bytes.toString("utf8", at, at + size));
    at += size;
  }
  return headers;
}

const SIZED_BYTES = 6;
const SIZED_TEXT = 7;

/** Bytes of a value by its type: true, false, byte, short, integer, long; timestamp, UUID. */
const fixedSizes: Readonly<Record<number, number>> = {
  ...{ 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 },
};
