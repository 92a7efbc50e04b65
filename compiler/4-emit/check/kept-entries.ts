import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Texts by their keys, in a file that later processes find. It is a cache: one that is absent, cut short or changed by
 * others is empty, one that can't be written is left, and of two that write at once one loses.
 */
export class KeptEntries {
  readonly #file: string;
  readonly #most: number;
  readonly #entries: Map<string, string>;
  #isChanged = false;

  /** `most`: how many entries are kept; those that were not asked for go first. */
  constructor(file: string, most: number) {
    this.#file = file;
    this.#most = most;
    this.#entries = readEntries(file);
  }

  get(key: string): string | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // What was asked for last is at the end.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: string): void {
    this.#entries.set(key, value);
    this.#isChanged = true;
  }

  /** Writes the file when there is something new: whole or not at all. */
  save(): void {
    if (!this.#isChanged) return;
    const json = JSON.stringify([...this.#entries].slice(-this.#most));
    const unfinished = `${this.#file}.${process.pid}.new`;
    try {
      mkdirSync(path.dirname(this.#file), { recursive: true });
      writeFileSync(unfinished, `${digestOf(json)}\n${json}`);
      renameSync(unfinished, this.#file);
      this.#isChanged = false;
    } catch {
      // The next process does the work again.
    }
  }
}

/** A short name for texts: different ones have different names. */
export function digestOf(...texts: readonly string[]): string {
  const hash = createHash("sha256");
  // Lengths keep texts apart.
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  return hash.digest("base64url");
}

function readEntries(file: string): Map<string, string> {
  const entries = new Map<string, string>();
  try {
    const text = readFileSync(file, "utf8");
    const start = text.indexOf("\n") + 1;
    const json = text.slice(start);
    if (text.slice(0, start - 1) !== digestOf(json)) return entries;
    const read: unknown = JSON.parse(json);
    if (!Array.isArray(read)) return entries;
    for (const [key, value] of read) entries.set(String(key), String(value));
  } catch {
    // There is none yet.
  }
  return entries;
}
