import { type IncomingMessage, ServerResponse, validateHeaderValue } from "node:http";
import type { Socket } from "node:net";
import type { BodySink, BodySource } from "../../body/body.ts";
import type { EngineResponse, EngineTunnel, EngineUpgrade } from "../engine.ts";

/** Whether a request asks for another protocol that a backend may speak (RFC 9110 7.8). */
export function wantsUpgrade({ headers, httpVersion }: IncomingMessage): boolean {
  const { upgrade, "content-length": length = "0", "transfer-encoding": coding } = headers;
  // Other versions of HTTP, and TLS around it, would pass behind the back of the policies (RFC 9113 3.1, RFC 2817).
  if (upgrade === undefined || /(?:^|[,\s])(?:h2c?|http|tls)(?=[/,\s]|$)/i.test(upgrade))
    return false;
  return httpVersion === "1.1" && length === "0" && coding === undefined;
}

/**
 * The response to a request for another protocol, or for a tunnel. Node has let go of the connection, so it ends with any
 * response but one that agrees.
 */
export class UpgradeResponse implements EngineResponse {
  readonly upgrade?: EngineUpgrade;
  readonly tunnel?: EngineTunnel;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  #status: number | undefined;

  constructor(request: IncomingMessage, socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.#response = new ServerResponse(request);
    this.#response.assignSocket(socket);
    this.#response.on("finish", () => socket.destroySoon());
    socket.on("error", () => socket.destroy());
    const accept = (status: 101 | 200, headers: readonly string[]) => {
      const text = headText(status, headers);
      this.#status = status;
      this.#response.detachSocket(socket);
      socket.write(text, "latin1");
      return new SocketBytes(socket, head);
    };
    if (request.method === "CONNECT") this.tunnel = { accept: (headers) => accept(200, headers) };
    else {
      const protocol = request.headers.upgrade ?? "";
      this.upgrade = { protocol, accept: (headers) => accept(101, headers) };
    }
  }

  get headersSent(): boolean {
    return this.#status !== undefined || this.#response.headersSent;
  }

  get statusCode(): number {
    return this.#status ?? this.#response.statusCode;
  }

  /** What has left HTTP goes on in the other direction when this one has ended: it is over when it is closed. */
  get writableFinished(): boolean {
    return this.#socket.writableFinished && this.#socket.destroyed;
  }

  writeHead(status: number, head: string[]): void {
    this.#response.writeHead(status, head);
  }

  writeContinue(): void {}

  write(chunk: Uint8Array | ""): boolean {
    if (this.#status !== undefined) return chunk === "" || this.#socket.write(chunk);
    return chunk === "" ? this.#response.write(chunk, "latin1") : this.#response.write(chunk);
  }

  end(chunk?: Uint8Array | string): void {
    if (this.#status !== undefined) this.#socket.end();
    else if (typeof chunk === "string") this.#response.end(chunk, "latin1");
    else this.#response.end(chunk);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  on(event: "drain" | "close", listener: () => void): void {
    // Before 101 a full buffer empties on the response, after it on the socket.
    if (event === "drain") this.#response.on(event, listener);
    this.#socket.on(event, listener);
  }
}

/** Throws on a value that can't be a header. */
function headText(status: 101 | 200, headers: readonly string[]): string {
  const phrase = status === 101 ? "Switching Protocols" : "Connection established";
  let text = `HTTP/1.1 ${status} ${phrase}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    validateHeaderValue(name, value);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/** Milliseconds that a client has to take what was still sent to it when nobody listens to it any more. */
const lingerTime = 10_000;

/** What comes in on a connection that has left HTTP. When nobody wants it any more, the connection closes. */
class SocketBytes implements BodySource {
  readonly length = undefined;
  readonly #socket: Socket;
  readonly #head: Buffer;
  #isDiscarded = false;

  constructor(socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.#head = head;
  }

  flow(sink: BodySink): void {
    let isOver = false;
    const once = (end: () => void) => () => {
      if (isOver) return;
      isOver = true;
      end();
    };
    this.#socket.on(
      "end",
      once(() => sink.onEnd()),
    );
    this.#socket.on(
      "close",
      once(() => sink.onAbort()),
    );
    this.#socket.on("data", (chunk: Buffer) => {
      if (!this.#isDiscarded) sink.onData(chunk);
    });
    if (this.#head.length > 0) sink.onData(this.#head);
    this.#socket.resume();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  discard(): void {
    const socket = this.#socket;
    if (this.#isDiscarded || socket.destroyed) return;
    this.#isDiscarded = true;
    socket.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerTime);
    socket.once("close", () => clearTimeout(timer));
  }
}
