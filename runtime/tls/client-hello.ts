import type { Socket } from "node:net";
import { afterRunning } from "../time/deadlines.ts";

/** The hello or other first bytes of a connection, with everything received; or why nothing arrived. */
export type ReceivedHello =
  | (ClientHelloFields & { readonly kind: "hello"; readonly bytes: Buffer[] })
  | { readonly kind: "malformed"; readonly why: string; readonly bytes: Buffer[] }
  | { readonly kind: "none"; readonly why: string; readonly isTimeout: boolean };

/** Waits for the ClientHello of a connection. `done` is called once, unless the client disconnects. */
export function receiveClientHello(
  socket: Socket,
  timeout: number,
  done: (hello: ReceivedHello) => void,
): void {
  const reader = new ClientHelloReader();
  const bytes: Buffer[] = [];
  const stop = () => {
    cancelTimeout();
    socket.off("data", onData);
    socket.off("end", onEnd);
    socket.off("close", stop);
    socket.pause();
  };
  const settle = (hello: ReceivedHello) => {
    stop();
    done(hello);
  };
  const onEnd = () => settle({ kind: "none", why: "the client left", isTimeout: false });
  const onData = (chunk: Buffer) => {
    bytes.push(chunk);
    const found: ClientHello = reader.read(chunk);
    if (found.kind !== "incomplete") settle({ ...found, bytes });
  };
  const cancelTimeout = afterRunning(timeout, () =>
    settle({ kind: "none", why: "no ClientHello within the time limit", isTimeout: true }),
  );
  socket.on("data", onData);
  socket.on("end", onEnd);
  socket.on("close", stop);
  socket.resume();
}

/** Result of reading the start of a TLS connection. */
export type ClientHello =
  | { readonly kind: "incomplete" }
  | (ClientHelloFields & { readonly kind: "hello" })
  | { readonly kind: "malformed"; readonly why: string };

/** Fields of a ClientHello. */
interface ClientHelloFields {
  /** Lower case; `undefined` if the client requests no server name. */
  readonly serverName: string | undefined;
  /** Protocols that the client offers (RFC 7301); empty if it offers none, or if they are malformed. */
  readonly protocols: readonly string[];
}

/** Maximum bytes of a ClientHello: real ones have less than 2 KB, or 5 KB with large keys. */
const MAX_HELLO = 16_384;

const incomplete = { kind: "incomplete" } as const;

/**
 * Reads the server name (RFC 6066 3) of a ClientHello (RFC 8446 4.1.2) without taking part in the handshake. The message may
 * arrive in any number of pieces and records (RFC 8446 5.1); each byte is examined once.
 */
export class ClientHelloReader {
  /** The handshake message so far, without the records' headers. */
  #message = Buffer.alloc(0);
  #length = 0;
  /** The record header in progress. */
  readonly #header: number[] = [];
  /** Bytes missing from the current record. */
  #rest = 0;

  /** Reads the next bytes of the connection. Must not be called again once the result is not `incomplete`. */
  read(chunk: Buffer): ClientHello {
    let at = 0;
    while (at < chunk.length) {
      if (this.#rest === 0) {
        const fault = this.#readHeader(chunk[at] ?? 0);
        if (fault !== undefined) return malformed(fault);
        at += 1;
        continue;
      }
      const end = Math.min(chunk.length, at + this.#rest);
      this.#add(chunk.subarray(at, end));
      this.#rest -= end - at;
      at = end;
      const found = this.#look();
      if (found.kind !== "incomplete") return found;
    }
    return incomplete;
  }

  /** Reads one byte of a record's header: type, version, length. */
  #readHeader(byte: number): string | undefined {
    const header = this.#header;
    header.push(byte);
    if (header.length === 1 && byte !== 22) return "not TLS";
    // Every version since SSL 3.0 has the major number 3.
    if (header.length === 2 && byte !== 3) return "unknown version of TLS";
    if (header.length < 5) return undefined;
    this.#rest = ((header[3] ?? 0) << 8) | (header[4] ?? 0);
    header.length = 0;
    // RFC 8446 5.1: a handshake record is never empty, and has at most 2^14 bytes.
    return this.#rest === 0 || this.#rest > 16_384 ? "a record with an invalid length" : undefined;
  }

  #add(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#message.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#message.length));
      this.#message.copy(larger, 0, 0, this.#length);
      this.#message = larger;
    }
    bytes.copy(this.#message, this.#length);
    this.#length = length;
  }

  #look(): ClientHello {
    const message = this.#message.subarray(0, this.#length);
    if (message.length < 4) return incomplete;
    if (message[0] !== 1) return malformed("no ClientHello");
    const length = message.readUIntBE(1, 3);
    if (length > MAX_HELLO) return malformed("a ClientHello over the size limit");
    if (message.length < 4 + length) return incomplete;
    try {
      const body = new Fields(message.subarray(4, 4 + length));
      return { kind: "hello", ...fieldsOf(body) };
    } catch (error) {
      return malformed(error instanceof Error ? error.message : String(error));
    }
  }
}

function malformed(why: string): ClientHello {
  return { kind: "malformed", why };
}

/** Parses the server name and the protocols. Throws an Error that says what is wrong. */
function fieldsOf(hello: Fields): ClientHelloFields {
  // Version and random.
  hello.take(2 + 32);
  hello.list(1);
  hello.list(2);
  hello.list(1);
  if (hello.isEnd) return { serverName: undefined, protocols: [] };
  const extensions = hello.list(2);
  if (!hello.isEnd) throw new Error("extra bytes after a ClientHello");
  let serverName: string | undefined;
  let protocols: readonly string[] = [];
  while (!extensions.isEnd) {
    const type = extensions.number(2);
    const content = extensions.list(2);
    if (type === 16) protocols = protocolsIn(content);
    if (type !== 0) continue;
    if (serverName !== undefined) throw new Error("two server names");
    serverName = nameIn(content);
  }
  return { serverName, protocols };
}

/** Parses the protocols of the extension (RFC 7301 3.1). Malformed ones are left to the end of the handshake. */
function protocolsIn(extension: Fields): readonly string[] {
  try {
    const offered = extension.list(2);
    const protocols: string[] = [];
    while (!offered.isEnd) protocols.push(offered.list(1).text());
    return protocols;
  } catch {
    return [];
  }
}

const HOST_NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Parses the host name of the extension (RFC 6066 3): one name of the only type, ASCII without a final dot. */
function nameIn(extension: Fields): string {
  const names = extension.list(2);
  if (!extension.isEnd || names.number(1) !== 0) throw new Error("malformed server name");
  const name = names.list(2).text().toLowerCase();
  if (!names.isEnd || name.length > 253 || !HOST_NAME.test(name)) {
    throw new Error("malformed server name");
  }
  return name;
}

/** Reads the fields of a message in order. Throws if the message ends within a field. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error("truncated ClientHello");
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  /** Reads a vector: its length in `size` bytes, then its content. */
  list(size: number): Fields {
    return new Fields(this.take(this.number(size)));
  }

  text(): string {
    return this.take(this.#bytes.length - this.#at).toString("latin1");
  }
}
