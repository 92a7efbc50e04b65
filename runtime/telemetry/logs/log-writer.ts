import { write, writeSync } from "node:fs";

/** Bytes that are gathered before a write, and how long a line waits at most. */
const BATCH_SIZE = 65_536;
const BATCH_DELAY = 50;
/** Bytes that wait for a reader that is stuck; further lines are dropped and counted. */
const MAX_BACKLOG = 16 * 1024 * 1024;
/** Milliseconds that closing waits for the reader. */
const CLOSE_TIME = 1000;
/** Milliseconds until a write is tried again on a pipe that is full. */
const RETRY_DELAY = 10;
/** Bytes of UTF-8 that a character makes at most: a surrogate pair makes four. */
const MAX_BYTES = 3;

/**
 * Writes lines to a file descriptor in batches, never waiting for the reader. What is left is written when the
 * process exits.
 */
export class LogWriter {
  readonly #to: number | ((lines: string) => void);
  /** What is gathered, up to `#length`. */
  #lines: Buffer = Buffer.allocUnsafeSlow(BATCH_SIZE);
  #length = 0;
  /** Batches that are full, and their bytes. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  /** The memory of a batch that was written. */
  #free: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  readonly #atExit = () => this.#finish();

  /** `to`: a file descriptor, or whoever takes lines and writes them. */
  constructor(to: number | ((lines: string) => void)) {
    this.#to = to;
    process.on("exit", this.#atExit);
  }

  /** Lines that were dropped because nobody read. */
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
    // A line is a string of many pieces: to gather them now costs less than when they have left the processor's cache.
    this.#length += this.#lines.write(lines, this.#length);
    this.#timer ??= setTimeout(() => this.flush(), BATCH_DELAY);
  }

  /** Starts writing what is there. */
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

  /** Resolves when all that was added is written, as far as the reader takes it within a second. */
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

  /** Lets what is gathered wait to be written. `most`: the bytes of what is gathered next. */
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

  /** A batch was handed over: what came meanwhile waits its time, or it would go a line at a time. */
  #written({ buffer }: Buffer): void {
    if (buffer.byteLength === BATCH_SIZE) this.#free = Buffer.from(buffer);
    if (this.#waiting.length > 0 || this.#timer === undefined) this.flush();
  }

  /** `from`: what is before that has been written. */
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

  /** At exit. What is being written by then is the system's: writing it again would double it. */
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

/** Writes at once, as far as the reader takes it: a full pipe gets a hundred tries. */
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
