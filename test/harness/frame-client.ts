import { connect, type Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/** A frame of HTTP/2 as it was received (RFC 9113 4.1). */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Frame types. */
export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
} as const;

/** Writes HTTP/2 frame by frame: what no well-behaved client sends. */
export class FrameClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  isClosed = false;
  #rest = Buffer.alloc(0);

  /** `socket`: a connection that is there already, such as one of TLS. */
  constructor(port: number, socket: Socket = connect(port, "127.0.0.1")) {
    this.socket = socket;
    this.socket.on("data", (chunk) => this.#read(chunk));
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    atEnd(() => this.socket.destroy());
    this.socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    this.send(frameType.settings, 0, 0);
  }

  send(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): void {
    this.socket.write(frame(type, flags, stream, payload));
  }

  /** Sends a request's head; `flags` 5 ends the head and the stream, 4 only the head. */
  request(stream: number, headers: readonly (readonly [string, string])[], flags = 5): void {
    this.send(frameType.headers, flags, stream, headerBlock(headers));
  }

  /** The last frame of a type on a stream. */
  last(type: number, stream: number): Frame | undefined {
    return this.frames.findLast((each) => each.type === type && each.stream === stream);
  }

  /** The status of a stream's response; `undefined` if none has come. Others than the indexed ones must not be Huffman coded. */
  status(stream: number): number | undefined {
    const head = this.frames.find(
      (each) => each.type === frameType.headers && each.stream === stream,
    );
    if (head === undefined) return undefined;
    const indexed = indexedStatuses.get(head.payload[0] ?? 0);
    return indexed ?? Number(/\d{3}/.exec(head.payload.toString("latin1"))?.[0] ?? Number.NaN);
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 9) {
      const length = this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < 9 + length) return;
      const [type = 0, flags = 0] = this.#rest.subarray(3, 5);
      const stream = this.#rest.readUInt32BE(5);
      const payload = Buffer.from(this.#rest.subarray(9, 9 + length));
      this.frames.push({ type, flags, stream, payload });
      this.#rest = this.#rest.subarray(9 + length);
    }
  }
}

/** RFC 7541, appendix A. */
const indexedStatuses: ReadonlyMap<number, number> = new Map([
  [0x88, 200],
  [0x89, 204],
  [0x8a, 206],
  [0x8b, 304],
  [0x8c, 400],
  [0x8d, 404],
  [0x8e, 500],
]);

/** One frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header block of literals without indexing (RFC 7541 6.2.2). */
export function headerBlock(headers: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    headers.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  );
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

/** The header fields of a request without a body. */
export const get = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "a"],
] as const;

/** The header fields of a request with one. */
export const post = [[":method", "POST"], ...get.slice(1)] as const;
