/** Milliseconds in which failures are counted. */
const WINDOW = 60_000;
/** Failures of one address in that time before its requests are refused unread. */
const MAX_FAILURES = 10;
/** Maximum number of addresses; the oldest is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Bounds how often one address may guess a key. */
export class FailureLimit {
  readonly #failures = new Map<string, { count: number; readonly until: number }>();

  /** Returns the seconds until the address may try again; `undefined` if it may try now. */
  pause(address: string): number | undefined {
    const found = this.#failures.get(networkOf(address));
    if (found === undefined || found.count < MAX_FAILURES) return undefined;
    const left = found.until - performance.now();
    return left <= 0 ? undefined : Math.ceil(left / 1000);
  }

  /** Counts a failure. */
  add(address: string): void {
    const now = performance.now();
    const network = networkOf(address);
    const found = this.#failures.get(network);
    if (found !== undefined && found.until > now) {
      found.count += 1;
      return;
    }
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= MAX_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.delete(network);
    this.#failures.set(network, { count: 1, until: now + WINDOW });
  }
}

/** One host usually has a whole /64 of IPv6. */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [start = "", end] = address.split("::");
  const groups = start.split(":").filter((group) => group !== "");
  const missing = end === undefined ? 0 : 8 - groups.length - end.split(":").length;
  const zeros = Array.from({ length: Math.max(0, missing) }, () => "0");
  return [...groups, ...zeros].slice(0, 4).join(":");
}
