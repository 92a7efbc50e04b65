/** Index of the lock in shared memory: an Int32 that is 0 if the lock is free, otherwise the index of its holder plus one. */
const LOCK_AT = 0;

/** Milliseconds after which a waiting thread checks again by itself. */
const LOOK_AGAIN = 10;

/** Runs `work` while no other thread holds the lock of the shared memory. `work` must not wait. */
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
 * Releases the lock of a thread that has ended. If it held the lock, its data may be incomplete: the memory is cleared and
 * filled by `refill`.
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
