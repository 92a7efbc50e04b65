import { withLock } from "../../process/thread-lock.ts";
import type { BucketUse } from "./bucket.ts";

/** Int32 words before the first place: the lock, how many places are taken, the newest of them, and the oldest. */
const headWords = 4;
const [takenAt, newestAt, oldestAt] = [1, 2, 3];

/** Of a place, in Int32 words: a digest, its neighbours by age, and the next one of its chain; places count from 1. */
const placeWords = 8;
const [olderAt, newerAt, nextAt] = [4, 5, 6];

/** What the places hold, as Float64 behind them: what was used, and since when; 0: nothing was asked for. */
const useNumbers = 2;

/**
 * What callers have used of one limit, in memory that threads share: a table by the digests of their keys, which forgets the
 * one that was not seen for longest when it is full. All of it is read and written under one lock.
 */
export class SharedUses {
  readonly #words: Int32Array;
  readonly #uses: Float64Array;
  readonly #thread: number;
  readonly #most: number;
  readonly #chains: number;
  readonly #firstPlace: number;

  /** The bytes that a table of so many keys takes. */
  static bytes(most: number): number {
    return useOffset(most) + 8 * useNumbers * most;
  }

  /** `thread`: which one looks at it, from 0. */
  constructor(memory: SharedArrayBuffer, most: number, thread: number) {
    this.#words = new Int32Array(memory);
    this.#uses = new Float64Array(memory, useOffset(most));
    this.#thread = thread;
    this.#most = most;
    this.#chains = chainsOf(most);
    this.#firstPlace = headWords + this.#chains;
  }

  /** Works on what a key has used, while no other thread does. `digest`: 16 bytes of a digest of the key. */
  with<Result>(digest: Buffer, work: (use: BucketUse) => Result): Result {
    return withLock(this.#words, this.#thread, () => work(this.#useAt(this.#placeOf(digest))));
  }

  #placeOf(digest: Buffer): number {
    const chain = headWords + (digest.readUInt32LE(0) & (this.#chains - 1));
    let place = this.#word(chain);
    while (place !== 0 && !this.#has(place, digest)) place = this.#of(place, nextAt);
    if (place === 0) {
      place = this.#freePlace();
      for (let i = 0; i < 4; i++) this.#set(place, i, digest.readInt32LE(4 * i));
      this.#set(place, nextAt, this.#word(chain));
      this.#words[chain] = place;
    } else this.#unlink(place);
    this.#linkNewest(place);
    return place;
  }

  #has(place: number, digest: Buffer): boolean {
    for (let i = 0; i < 4; i++) if (this.#of(place, i) !== digest.readInt32LE(4 * i)) return false;
    return true;
  }

  /** One that nobody has, or that of the oldest key. */
  #freePlace(): number {
    const taken = this.#word(takenAt);
    if (taken < this.#most) {
      this.#words[takenAt] = taken + 1;
      return taken + 1;
    }
    const oldest = this.#word(oldestAt);
    this.#unlink(oldest);
    this.#leaveChain(oldest);
    this.#uses.fill(0, useNumbers * (oldest - 1), useNumbers * oldest);
    return oldest;
  }

  #leaveChain(place: number): void {
    const chain = headWords + (this.#of(place, 0) & (this.#chains - 1));
    const next = this.#of(place, nextAt);
    let before = this.#word(chain);
    if (before === place) {
      this.#words[chain] = next;
      return;
    }
    while (this.#of(before, nextAt) !== place) before = this.#of(before, nextAt);
    this.#set(before, nextAt, next);
  }

  #linkNewest(place: number): void {
    const newest = this.#word(newestAt);
    this.#set(place, olderAt, newest);
    this.#set(place, newerAt, 0);
    if (newest === 0) this.#words[oldestAt] = place;
    else this.#set(newest, newerAt, place);
    this.#words[newestAt] = place;
  }

  #unlink(place: number): void {
    const [older, newer] = [this.#of(place, olderAt), this.#of(place, newerAt)];
    if (older === 0) this.#words[oldestAt] = newer;
    else this.#set(older, newerAt, newer);
    if (newer === 0) this.#words[newestAt] = older;
    else this.#set(newer, olderAt, older);
  }

  #useAt(place: number): BucketUse {
    const uses = this.#uses;
    const at = useNumbers * (place - 1);
    return {
      get used() {
        return uses[at] ?? 0;
      },
      set used(used) {
        uses[at] = used;
      },
      get since() {
        const since = uses[at + 1] ?? 0;
        return since === 0 ? undefined : since;
      },
      set since(since) {
        uses[at + 1] = since ?? 0;
      },
    };
  }

  #word(at: number): number {
    return this.#words[at] ?? 0;
  }

  #of(place: number, field: number): number {
    return this.#word(this.#firstPlace + placeWords * (place - 1) + field);
  }

  #set(place: number, field: number, value: number): void {
    this.#words[this.#firstPlace + placeWords * (place - 1) + field] = value;
  }
}

/** A power of two, at least as many as there are keys. */
function chainsOf(most: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, most)));
}

function useOffset(most: number): number {
  const words = headWords + chainsOf(most) + placeWords * most;
  return 8 * Math.ceil((4 * words) / 8);
}
