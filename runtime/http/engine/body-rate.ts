import type { CountedBuffer } from "../body/counted-buffer.ts";

/** Milliseconds that a body may take before its rate counts. */
const grace = 5000;
/** Milliseconds between two looks. */
const interval = 1000;

/**
 * Calls `tooSlow`, once, when a body that is gathered comes with fewer than `minRate` bytes per second from its start (0:
 * any rate will do). The function that is returned ends the watch.
 */
export function watchRate(minRate: number, body: CountedBuffer, tooSlow: () => void): () => void {
  if (minRate === 0) return () => {};
  let waited = 0;
  const isSlow = () => body.length < (minRate * waited) / 1000;
  const timer = setInterval(() => {
    waited += interval;
    if (waited < grace || !isSlow()) return;
    // A process that was busy reads first what has come meanwhile.
    setImmediate(() => {
      if (isSlow()) tooSlow();
    });
  }, interval);
  return () => clearInterval(timer);
}
