import type { GatewayContext } from "../../process/gateway-context.ts";
import { withLock } from "../../process/thread-lock.ts";
import { HOUR } from "../../process/units.ts";

/** Int32 words after the lock: the hour since 1970, and the number of registrations in it. */
const HOUR_AT = 2;
const COUNT_AT = 3;
const BYTES = 16;

/** Registrations of clients in the current hour, which all threads of a process count together. */
export class RegistrationCount {
  readonly #name: string;
  readonly #max: number;
  #words: Int32Array | undefined;

  /** `name`: unique in the gateway. */
  constructor(name: string, max: number) {
    this.#name = name;
    this.#max = max;
  }

  /** Counts a registration. Returns false if the maximum of this hour is reached. */
  add({ threads }: GatewayContext): boolean {
    this.#words ??= new Int32Array(
      threads?.memory(this.#name, BYTES) ?? new SharedArrayBuffer(BYTES),
    );
    const words = this.#words;
    const hour = Math.floor(Date.now() / HOUR);
    return withLock(words, threads?.index ?? 0, () => {
      const isSame = words[HOUR_AT] === hour;
      const count = isSame ? (words[COUNT_AT] ?? 0) : 0;
      if (count >= this.#max) return false;
      words[HOUR_AT] = hour;
      words[COUNT_AT] = count + 1;
      return true;
    });
  }
}
