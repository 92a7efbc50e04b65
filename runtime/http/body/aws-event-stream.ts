import { crc32 } from "node:zlib";

/** One message of an `application/vnd.amazon.eventstream` body. */
export interface AwsEvent {
  /** String headers by name: `:message-type`, `:event-type`, `:exception-type`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
  /** The whole message. */
  readonly bytes: Buffer;
}

/** Writes a message. `headers`: strings of ASCII by name. */
export function writeAwsEvent(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const entries = Object.entries(headers);
  const headLength = entries.reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  );
  const length = PRELUDE_LENGTH + headLength + Buffer.byteLength(payload) + 4;
  const message = Buffer.allocUnsafe(length);
  message.writeUInt32BE(length, 0);
  message.writeUInt32BE(headLength, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  let at = PRELUDE_LENGTH;
  for (const [name, value] of entries) {
    at = message.writeUInt8(name.length, at);
    at += message.write(name, at, "latin1");
    at = message.writeUInt8(SIZED_TEXT, at);
    at = message.writeUInt16BE(value.length, at);
    at += message.write(value, at, "latin1");
  }
  message.write(payload, at, "utf8");
  message.writeUInt32BE(crc32(message.subarray(0, length - 4)), length - 4);
  return message;
}

/** Splits such a stream into messages, whatever pieces it arrives in (Smithy, Amazon Event Stream). */
export class AwsEventReader {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #held = 0;
  #fault: "corrupt" | "too-long" | undefined;

  /** `limit`: maximum bytes of one message. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Why the stream is unreadable: a wrong checksum or length, or a message over the limit. */
  get fault(): "corrupt" | "too-long" | undefined {
    return this.#fault;
  }

  /** Returns the messages that `chunk` completes, including those before a fault. */
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

  /** Returns the length of the first buffered message, checksums included; `undefined` if it is unknown or faulty. */
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

/** Length of two lengths and their checksum. */
const PRELUDE_LENGTH = 12;

/** Parses a message; `undefined` if a checksum is wrong. */
function readMessage(message: Buffer): AwsEvent | undefined {
  const end = message.length - 4;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) return undefined;
  const headersEnd = PRELUDE_LENGTH + message.readUInt32BE(4);
  const headers = readHeaders(message.subarray(PRELUDE_LENGTH, headersEnd));
  return headers && { headers, payload: message.subarray(headersEnd, end), bytes: message };
}

/** Parses headers; `undefined` if they are malformed despite a correct checksum. */
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

/** Bytes of a value by its type: true, false, byte, short, integer, long, timestamp, UUID. */
const fixedSizes: Readonly<Record<number, number>> = {
  ...{ 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 },
};
