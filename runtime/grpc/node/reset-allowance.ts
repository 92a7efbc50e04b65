/** Calls that are reset at once, and milliseconds until another one may be: nghttp2 ends a connection at 1,000 and 33 a second. */
const atOnce = 100;
const interval = 50;

/**
 * How many calls of a connection may be reset. Servers end connections on which too many are (CVE-2023-44487), and with
 * them the calls of everybody else: clients that hang up must not bring that about.
 */
export class ResetAllowance {
  #left = atOnce;
  #since = performance.now();

  /** False: not now. */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(atOnce, this.#left + (now - this.#since) / interval);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
