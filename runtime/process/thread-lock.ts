/** Where the lock of a memory that threads share stands in it: an Int32, 0 while nobody has it, else who has it and one. */
const LOCK_AT = 0;

/** Milliseconds after which a thread that waits looks again by itself. */
const LOOK_AGAIN = 10;

/** Does something with memory that threads share while none of the others does. It must not wait for anything. */
export function withLock<Result>(words: Int32Array, thread: number, work: () => Result): Result {
  const mine = thread + 1;
  for (;;) {
    const holder = Atomics.compareExchange(words, LOCK_AT, 0, mine);
    if (holder === 0) break;
    Atomics.wait(words, LOCK_AT, holder, LOOK_AGAIN);
  }
  try {
    return work();
  } finally {
    Atomics.store(words, LOCK_AT, 0);
    Atomics.notify(words, LOCK_AT, 1);
  }
}

/**
 * A thread has ended: what it may have left half done is emptied, if it held the lock, and filled by `refill`, and the lock is
 * free.
 */
export function releaseLock(
  memory: SharedArrayBuffer,
  thread: number,
  refill: () => void = () => {},
): void {
  const words = new Int32Array(memory);
  if (Atomics.load(words, LOCK_AT) !== thread + 1) return;
  words.fill(0, LOCK_AT + 1);
  refill();
  Atomics.store(words, LOCK_AT, 0);
  Atomics.notify(words, LOCK_AT);
}
