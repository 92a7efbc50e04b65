import { write, writeSync } from "node:fs";

/** Bytes that are gathered before a write, and how long a line waits at most. */
const batchSize = 65_536;
const batchDelay = 50;
/** Characters that wait for a reader that is stuck; further lines are dropped and counted. */
const maxBacklog = 16 * 1024 * 1024;
/** Milliseconds that closing waits for the reader. */
const closeTime = 1000;
/** Milliseconds until a write is tried again on a pipe that is full. */
const retryDelay = 10;

/**
 * Writes lines to a file descriptor in batches, never waiting for the reader. What is left is written when the
 * process exits.
 */
export class LogWriter {
  readonly #to: number | ((lines: string) => void);
  #lines = "";
  #writing: Buffer | undefined;
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
    if (this.#lines.length > maxBacklog) {
      this.#dropped += lines.split("\n").length - 1;
      return;
    }
    this.#lines += lines;
    if (this.#lines.length >= batchSize) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), batchDelay);
  }

  /** Starts writing what is there. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined || this.#lines === "") return;
    const lines = this.#lines;
    this.#lines = "";
    if (typeof this.#to === "function") this.#to(lines);
    else this.#write(this.#to, Buffer.from(lines));
  }

  /** Resolves when all that was added is written, as far as the reader takes it within a second. */
  async written(): Promise<void> {
    const deadline = Date.now() + closeTime;
    this.flush();
    while ((this.#writing !== undefined || this.#lines !== "") && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** Writes the rest and stops. */
  async close(): Promise<void> {
    await this.written();
    process.off("exit", this.#atExit);
    this.#finish();
  }

  #write(fd: number, batch: Buffer): void {
    this.#writing = batch;
    write(fd, batch, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => this.#write(fd, batch), retryDelay);
        return;
      }
      // A reader that is gone (EPIPE) must not end the gateway.
      this.#writing = undefined;
      if (error === null && written < batch.length) this.#write(fd, batch.subarray(written));
      // What came meanwhile waits its time, or it would go a line at a time; without a timer that time is over.
      else if (this.#timer === undefined) this.flush();
    });
  }

  /** At exit. What is being written by then is the system's: writing it again would double it. */
  #finish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = "";
    if (lines === "") return;
    if (typeof this.#to === "function") this.#to(lines);
    else writeAll(this.#to, Buffer.from(lines));
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
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelay);
    }
  }
}
