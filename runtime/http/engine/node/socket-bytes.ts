import type { Socket } from "node:net";
import type { BodySink, BodySource } from "../../body/body.ts";

/** Milliseconds that a client has to receive the remaining bytes once nothing reads from it. */
const LINGER_TIME = 10_000;

/** Bytes received on a connection that has left HTTP. The connection closes when they are no longer wanted. */
export class SocketBytes implements BodySource {
  readonly length = undefined;
  readonly #socket: Socket;
  readonly #head: Buffer | undefined;
  #isDiscarded = false;

  /** `head`: bytes that were read before. */
  constructor(socket: Socket, head: Buffer | undefined) {
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
    if (this.#head !== undefined) sink.onData(this.#head);
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
    const timer = setTimeout(() => socket.destroy(), LINGER_TIME);
    socket.once("close", () => clearTimeout(timer));
  }
}
