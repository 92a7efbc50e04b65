import { hash } from "node:crypto";
import type { GatewayContext } from "./gateway-context.ts";
import { withLock } from "./thread-lock.ts";

/** Int32 words before the first slot: the lock. */
const HEAD_WORDS = 2;
/** Int32 words of a slot: the digest of its string. */
const PLACE_WORDS = 4;
/** Slots per set. The digest of a string selects its set. */
const SET_PLACES = 8;

/**
 * Strings that all threads of a process know until they expire. If the table is full, the strings that expire first make room.
 * Each string is added once, whichever thread adds it.
 */
export class Remembered {
  readonly #name: string;
  readonly #sets: number;
  #table: Table | undefined;

  /** `name`: unique in the gateway. */
  constructor(name: string, max: number) {
    this.#name = name;
    this.#sets = Math.ceil(max / SET_PLACES);
  }

  /** Adds a string. Returns false if it is already known. `end`: milliseconds since 1970. */
  add(text: string, end: number, gateway: GatewayContext): boolean {
    const table = this.#of(gateway);
    const digest = digestOf(text);
    return withLock(table.words, table.thread, () => {
      if (this.#find(table, digest) !== undefined) return false;
      this.#place(table, digest, end);
      return true;
    });
  }

  /** Extends a string to `end`, and adds it if it is unknown. Returns false if it was unknown. */
  renew(text: string, end: number, gateway: GatewayContext): boolean {
    const table = this.#of(gateway);
    const digest = digestOf(text);
    return withLock(table.words, table.thread, () => {
      const known = this.#find(table, digest);
      if (known === undefined) this.#place(table, digest, end);
      else table.ends[known] = end;
      return known !== undefined;
    });
  }

  /** Forgets a string. */
  delete(text: string, gateway: GatewayContext): void {
    const table = this.#of(gateway);
    const digest = digestOf(text);
    withLock(table.words, table.thread, () => {
      const place = this.#find(table, digest);
      if (place !== undefined) table.ends[place] = 0;
    });
  }

  /** Whether a string was added and has not expired. */
  has(text: string, gateway: GatewayContext): boolean {
    const table = this.#of(gateway);
    const digest = digestOf(text);
    return withLock(table.words, table.thread, () => this.#find(table, digest) !== undefined);
  }

  #place(table: Table, digest: Buffer, end: number): void {
    const place = this.#freePlace(table, digest);
    const at = HEAD_WORDS + PLACE_WORDS * place;
    for (let i = 0; i < PLACE_WORDS; i++) table.words[at + i] = digest.readInt32LE(4 * i);
    table.ends[place] = end;
  }

  #find(table: Table, digest: Buffer): number | undefined {
    const now = Date.now();
    return this.#placesOf(digest).find(
      (place) => (table.ends[place] ?? 0) > now && hasDigest(table, place, digest),
    );
  }

  /** Finds the slot of a set that expired or expires first; unused slots count as expired. */
  #freePlace({ ends }: Table, digest: Buffer): number {
    return this.#placesOf(digest).reduce((first, place) =>
      (ends[place] ?? 0) < (ends[first] ?? 0) ? place : first,
    );
  }

  #placesOf(digest: Buffer): readonly number[] {
    const first = SET_PLACES * (digest.readUInt32LE(0) % this.#sets);
    return Array.from({ length: SET_PLACES }, (_, index) => first + index);
  }

  #of({ threads }: GatewayContext): Table {
    if (this.#table !== undefined) return this.#table;
    const places = SET_PLACES * this.#sets;
    const endsAt = 4 * (HEAD_WORDS + PLACE_WORDS * places);
    const bytes = endsAt + 8 * places;
    const memory = threads?.memory(this.#name, bytes) ?? new SharedArrayBuffer(bytes);
    this.#table = {
      words: new Int32Array(memory, 0, endsAt / 4),
      ends: new Float64Array(memory, endsAt, places),
      thread: threads?.index ?? 0,
    };
    return this.#table;
  }
}

/** One table, as a thread sees it. */
interface Table {
  readonly words: Int32Array;
  /** When each slot expires, in milliseconds since 1970; 0 if it was never used. */
  readonly ends: Float64Array;
  readonly thread: number;
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

function hasDigest({ words }: Table, place: number, digest: Buffer): boolean {
  const at = HEAD_WORDS + PLACE_WORDS * place;
  for (let i = 0; i < PLACE_WORDS; i++)
    if (words[at + i] !== digest.readInt32LE(4 * i)) return false;
  return true;
}
