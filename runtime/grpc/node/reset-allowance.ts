/** Burst of resets, and milliseconds per further one. nghttp2 closes a connection at 1,000 and 33 per second. */
const AT_ONCE = 100;
const INTERVAL = 50;

/**
 * Limits the resets of calls on a connection. Servers close connections with too many resets (CVE-2023-44487) and with them
 * the calls of others, so clients that disconnect must not cause that.
 */
export class ResetAllowance {
  #left = AT_ONCE;
  #since = performance.now();

  /** Returns false if no reset is allowed now. */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(AT_ONCE, this.#left + (now - this.#since) / INTERVAL);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
