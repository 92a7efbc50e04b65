import type { Connection } from "./connection.ts";

/** Maximum number of bytes that a policy reads. */
const MAX_BYTES = 16_384;

/** Reads the first bytes that a client sends, which are forwarded afterwards. */
export class FirstBytes {
  readonly #connection: Connection;
  #last: Promise<unknown> = Promise.resolve();
  #stop: (() => void) | undefined;
  #isClosed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Resolves with so many bytes, or with fewer if the client has sent its last one. */
  async read(count: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!Number.isInteger(count) || count < 1 || count > MAX_BYTES)
      throw new RangeError(`firstBytes reads from 1 to ${MAX_BYTES} bytes`);
    const read = this.#last.then(() => this.#receive(count));
    this.#last = read;
    await read;
    return new Uint8Array(Buffer.concat(this.#connection.first).subarray(0, count));
  }

  /** Leaves all further bytes to others. */
  close(): void {
    this.#isClosed = true;
    this.#stop?.();
  }

  #receive(count: number): Promise<void> {
    const connection = this.#connection;
    const { socket } = connection;
    const isComplete = () =>
      connection.first.reduce((sum, { length }) => sum + length, 0) >= count ||
      socket.readableEnded ||
      socket.destroyed;
    if (this.#isClosed) throw new TypeError("firstBytes reads nothing after its hook has ended");
    if (isComplete()) return Promise.resolve();
    return new Promise((resolve) => {
      const take = (bytes: Buffer) => {
        connection.first = [...connection.first, bytes];
        if (isComplete()) stop();
      };
      const stop = () => {
        this.#stop = undefined;
        socket.off("data", take).off("end", stop).off("close", stop).pause();
        resolve();
      };
      this.#stop = stop;
      socket.on("data", take).on("end", stop).on("close", stop).resume();
    });
  }
}
