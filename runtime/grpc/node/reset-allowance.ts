/** Calls that are reset at once, and milliseconds until another one may be: nghttp2 ends a connection at 1,000 and 33 a second. */
const AT_ONCE = 100;
const INTERVAL = 50;

/**
 * How many calls of a connection may be reset. Servers end connections on which too many are (CVE-2023-44487), and with
 * them the calls of everybody else: clients that hang up must not bring that about.
 */
export class ResetAllowance {
  #left = AT_ONCE;
  #since = performance.now();

  /** False: not now. */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(AT_ONCE, this.#left + (now - this.#since) / INTERVAL);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
