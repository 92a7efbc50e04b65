import { withLock } from "../../process/thread-lock.ts";
import type { PersistedUse } from "./bucket.ts";

/**
 * Int32 words before the first place: the lock, the number of used places, the newest and oldest place, and a counter of
 * changes.
 */
const HEAD_WORDS = 5;
const [takenAt, newestAt, oldestAt, changesAt] = [1, 2, 3, 4];

/** The words of a place: a digest, its neighbours by age, and the next place of its chain. Places count from 1. */
const PLACE_WORDS = 8;
const [olderAt, newerAt, nextAt] = [4, 5, 6];

/**
 * The usage of each place, as Float64 values after the words: the amount, the start of its interval (0: unused), and until
 * when it counts.
 */
const USE_NUMBERS = 3;

/** Number of bytes of a digest that are stored. */
export const DIGEST_BYTES = 16;

/** The usage of a key, for persisting it. */
export interface UseEntry {
  readonly digest: Buffer;
  readonly use: Readonly<PersistedUse>;
}

/**
 * The usage of one limit by digests of keys, in memory that threads share. When the table is full, the least recently seen
 * key is dropped, preferably one whose usage no longer counts, so that invented keys do not displace others. All access is
 * under one lock.
 */
export class SharedUses {
  readonly #words: Int32Array;
  readonly #uses: Float64Array;
  readonly #memory: SharedArrayBuffer;
  readonly #thread: number;
  readonly #most: number;
  readonly #chains: number;
  readonly #firstPlace: number;

  /** Returns the number of bytes of a table with so many keys. */
  static bytes(most: number): number {
    return useOffset(most) + 8 * USE_NUMBERS * most;
  }

  /** `thread`: the index of the thread that uses it. */
  constructor(memory: SharedArrayBuffer, most: number, thread: number) {
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#uses = new Float64Array(memory, useOffset(most));
    this.#thread = thread;
    this.#most = most;
    this.#chains = chainsOf(most);
    this.#firstPlace = HEAD_WORDS + this.#chains;
  }

  /** Calls `work` with the usage of a key while the table is locked. `digest`: 16 bytes of the key's digest. */
  with<Result>(digest: Buffer, work: (use: PersistedUse) => Result): Result {
    return withLock(this.#words, this.#thread, () => work(this.#useAt(this.#placeOf(digest))));
  }

  /** Counts a change; only inside of `with`. */
  change(): void {
    this.#words[changesAt] = this.#word(changesAt) + 1;
  }

  /** A number that differs after each change. */
  get changes(): number {
    return Atomics.load(this.#words, changesAt);
  }

  /** Adds entries, oldest first. Only while no other thread uses the table. */
  fill(entries: readonly UseEntry[]): void {
    for (const { digest, use } of entries.slice(-this.#most))
      Object.assign(this.#useAt(this.#placeOf(digest)), use);
  }

  /** Returns the current entries, oldest first. */
  entries(): readonly UseEntry[] {
    // Copies the table, so that other threads wait only for the copy.
    const copy = withLock(this.#words, this.#thread, () => this.#memory.slice(0));
    return new SharedUses(copy, this.#most, this.#thread).#entries();
  }

  #entries(): readonly UseEntry[] {
    const entries: UseEntry[] = [];
    for (let place = this.#word(oldestAt); place !== 0; place = this.#of(place, newerAt)) {
      const digest = Buffer.allocUnsafe(DIGEST_BYTES);
      for (let i = 0; i < 4; i++) digest.writeInt32LE(this.#of(place, i), 4 * i);
      const { used, since, until } = this.#useAt(place);
      entries.push({ digest, use: { used, since, until } });
    }
    return entries;
  }

  #placeOf(digest: Buffer): number {
    const chain = HEAD_WORDS + (digest.readUInt32LE(0) & (this.#chains - 1));
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

  /** Returns an unused place, or the place of a dropped key. */
  #freePlace(): number {
    const taken = this.#word(takenAt);
    if (taken < this.#most) {
      this.#words[takenAt] = taken + 1;
      return taken + 1;
    }
    const old = this.#oldestIdle() ?? this.#word(oldestAt);
    this.#unlink(old);
    this.#leaveChain(old);
    this.#uses.fill(0, USE_NUMBERS * (old - 1), USE_NUMBERS * old);
    return old;
  }

  #oldestIdle(): number | undefined {
    const now = Date.now();
    for (let place = this.#word(oldestAt); place !== 0; place = this.#of(place, newerAt))
      if ((this.#uses[USE_NUMBERS * (place - 1) + 2] ?? 0) <= now) return place;
    return undefined;
  }

  #leaveChain(place: number): void {
    const chain = HEAD_WORDS + (this.#of(place, 0) & (this.#chains - 1));
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

  #useAt(place: number): PersistedUse {
    const uses = this.#uses;
    const at = USE_NUMBERS * (place - 1);
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
      get until() {
        return uses[at + 2] ?? 0;
      },
      set until(until) {
        uses[at + 2] = until;
      },
    };
  }

  #word(at: number): number {
    return this.#words[at] ?? 0;
  }

  #of(place: number, field: number): number {
    return this.#word(this.#firstPlace + PLACE_WORDS * (place - 1) + field);
  }

  #set(place: number, field: number, value: number): void {
    this.#words[this.#firstPlace + PLACE_WORDS * (place - 1) + field] = value;
  }
}

/** Returns a power of two that is at least the number of keys. */
function chainsOf(most: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, most)));
}

function useOffset(most: number): number {
  const words = HEAD_WORDS + chainsOf(most) + PLACE_WORDS * most;
  return 8 * Math.ceil((4 * words) / 8);
}
