import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Strings by key in a file that later processes read. It is a cache: a missing, truncated or foreign file counts as
 * empty, a failed write is ignored, and of two concurrent writes one is lost.
 */
export class CachedEntries {
  readonly #file: string;
  readonly #most: number;
  readonly #entries: Map<string, string>;
  #isChanged = false;

  /** `most`: maximum number of entries; the least recently used are dropped first. */
  constructor(file: string, most: number) {
    this.#file = file;
    this.#most = most;
    this.#entries = readEntries(file);
  }

  get(key: string): string | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // The most recently used entry is last.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: string): void {
    this.#entries.set(key, value);
    this.#isChanged = true;
  }

  /** Writes the file atomically if there are new entries. */
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
      // The next process repeats the work.
    }
  }
}

/** Returns a short name for a list of strings; different lists have different names. */
export function digestOf(...texts: readonly string[]): string {
  const hash = createHash("sha256");
  // Lengths separate the strings.
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
    // The file does not exist yet.
  }
  return entries;
}
