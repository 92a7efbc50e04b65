import { write, writeSync } from "node:fs";

/** Maximum number of bytes per batch, and the maximum time that a line waits for its batch. */
const BATCH_SIZE = 65_536;
const BATCH_DELAY = 50;
/** Maximum number of bytes that wait for a blocked reader; further lines are dropped and counted. */
const MAX_BACKLOG = 16 * 1024 * 1024;
/** Milliseconds that closing waits for the reader. */
const CLOSE_TIME = 1000;
/** Milliseconds until a write to a full pipe is retried. */
const RETRY_DELAY = 10;
/** Maximum number of UTF-8 bytes per UTF-16 code unit; a surrogate pair has four. */
const MAX_BYTES = 3;

/**
 * Writes lines to a file descriptor in batches, without waiting for the reader. The rest is written when the process exits.
 */
export class LogWriter {
  readonly #to: number | ((lines: string) => void);
  /** The current batch, filled up to `#length`. */
  #lines: Buffer = Buffer.allocUnsafeSlow(BATCH_SIZE);
  #length = 0;
  /** The full batches, and their bytes. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  /** The buffer of a written batch, for reuse. */
  #free: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  readonly #atExit = () => this.#finish();

  /** `to`: a file descriptor, or a function that writes lines. */
  constructor(to: number | ((lines: string) => void)) {
    this.#to = to;
    process.on("exit", this.#atExit);
  }

  /** Number of lines that were dropped because the reader was too slow. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds lines, each ended by a line feed. */
  add(lines: string): void {
    if (this.#waitingBytes > MAX_BACKLOG) {
      this.#dropped += lines.split("\n").length - 1;
      return;
    }
    const most = lines.length * MAX_BYTES;
    if (this.#length + most > this.#lines.length) {
      this.#endBatch(most);
      this.flush();
    }
    // A line is a string of many pieces: flattening it now is cheaper than after they have left the processor's cache.
    this.#length += this.#lines.write(lines, this.#length);
    this.#timer ??= setTimeout(() => this.flush(), BATCH_DELAY);
  }

  /** Starts writing the current batch. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWriting) return;
    if (this.#waiting.length === 0) this.#endBatch(0);
    const batch = this.#waiting.shift();
    if (batch === undefined) return;
    this.#waitingBytes -= batch.length;
    if (typeof this.#to === "number") this.#write(this.#to, batch, 0);
    else {
      this.#to(batch.toString());
      this.#written(batch);
    }
  }

  /** Resolves when everything is written, or after a second if the reader is too slow. */
  async written(): Promise<void> {
    const deadline = Date.now() + CLOSE_TIME;
    this.flush();
    while ((this.#isWriting || this.#length > 0) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** Writes the rest and stops. */
  async close(): Promise<void> {
    await this.written();
    process.off("exit", this.#atExit);
    this.#finish();
  }

  /** Queues the current batch. `most`: number of bytes of the next lines. */
  #endBatch(most: number): void {
    if (this.#length > 0) {
      this.#waiting.push(this.#lines.subarray(0, this.#length));
      this.#waitingBytes += this.#length;
      this.#lines = this.#free ?? Buffer.allocUnsafeSlow(BATCH_SIZE);
      this.#free = undefined;
      this.#length = 0;
    }
    if (most > this.#lines.length) this.#lines = Buffer.allocUnsafeSlow(most);
  }

  /**
   * Continues after a batch was written. Lines that arrived meanwhile wait for their time, or they would be written one by
   * one.
   */
  #written({ buffer }: Buffer): void {
    if (buffer.byteLength === BATCH_SIZE) this.#free = Buffer.from(buffer);
    if (this.#waiting.length > 0 || this.#timer === undefined) this.flush();
  }

  /** Writes a batch from an offset. */
  #write(fd: number, batch: Buffer, from: number): void {
    this.#isWriting = true;
    write(fd, batch, from, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => this.#write(fd, batch, from), RETRY_DELAY);
        return;
      }
      if (error === null && from + written < batch.length) {
        this.#write(fd, batch, from + written);
        return;
      }
      // A reader that is gone (EPIPE) must not end the gateway.
      this.#isWriting = false;
      this.#written(batch);
    });
  }

  /** Writes the rest at exit. The write in flight is left to the system; repeating it would duplicate its lines. */
  #finish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endBatch(0);
    const batches = this.#waiting.splice(0);
    this.#waitingBytes = 0;
    for (const batch of batches) {
      if (typeof this.#to === "number") writeAll(this.#to, batch);
      else this.#to(batch.toString());
    }
  }
}

/** Writes synchronously; retries a full pipe up to a hundred times. */
function writeAll(fd: number, bytes: Buffer): void {
  let rest = bytes;
  for (let tries = 0; rest.length > 0 && tries < 100; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EAGAIN") return;
      tries += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_DELAY);
    }
  }
}
