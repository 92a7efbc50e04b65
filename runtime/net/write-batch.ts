/** A writer of batched messages. */
export interface BatchedWriter {
  /** Writes a message: the first one of its own that is still delayed. */
  release(message: string | Uint8Array): void;
}

/** Number of messages per turn from which batching starts. */
const CROWD = 3;
/** While turns have fewer messages, one turn is examined per so many messages. */
const LOOKS_EVERY = 16;
/** Milliseconds that a message is delayed at most, unless the next message takes longer. */
const MAX_HOLD = 0.5;

/**
 * Delays short messages of a turn of the event loop to its end and writes them one after the other. Written one at a time, each
 * wakes its receiver, at the cost of the sender's system call, and the receiver sleeps again until the next one. Written
 * together, they find it awake. Under load with short requests that saves a third of the CPU. A message that is alone in its
 * turn is not delayed.
 */
export class WriteBatch {
  /** Delayed messages and their writers, by index; two lists, so that a message allocates nothing. */
  #writers: BatchedWriter[] = [];
  #messages: (string | Uint8Array)[] = [];
  #released = 0;
  #heldSince = 0;
  /** Messages of the examined turn, or messages since then. */
  #count = 0;
  #isLooking = false;
  #isCrowded = false;

  /** Whether it delays the message; if not, the writer writes it. */
  holds(writer: BatchedWriter, message: string | Uint8Array): boolean {
    this.#count += 1;
    if (!this.#isLooking && (this.#isCrowded || this.#count >= LOOKS_EVERY)) this.#look();
    if (!this.#isCrowded) return false;
    const now = performance.now();
    if (this.#writers.length === 0) this.#heldSince = now;
    else if (now - this.#heldSince > MAX_HOLD) {
      this.release();
      this.#heldSince = now;
    }
    this.#writers.push(writer);
    this.#messages.push(message);
    return true;
  }

  #look(): void {
    this.#isLooking = true;
    this.#count = 1;
    setImmediate(this.#turnEnded);
  }

  readonly #turnEnded = (): void => {
    this.#isLooking = false;
    this.#isCrowded = this.#count >= CROWD;
    this.#count = 0;
    this.release();
  };

  /** Writes all delayed messages in their order, for a writer whose next one must not wait. */
  release(): void {
    // A writer may release the rest while it writes its message.
    while (this.#released < this.#writers.length) {
      const at = this.#released++;
      this.#writers[at]?.release(this.#messages[at] ?? "");
    }
    if (this.#released === 0) return;
    this.#released = 0;
    this.#writers = [];
    this.#messages = [];
  }
}
